// Polls the etcd status of every pod and keeps each answer that must never occur: another cluster id, or a revision or
// term lower than the same member had before.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { MemberStatus } from "../../../src/etcd/member.ts";
import type { TestCluster } from "../support/cluster.ts";
import { memberAt } from "../support/healthy.ts";

const everyMs = 200;

export class IdentityWatch implements AsyncDisposable {
  readonly #clusterId: string;
  readonly #newest = new Map<string, MemberStatus>();
  readonly #violations = new Set<string>();
  readonly #violated = Promise.withResolvers<never>();
  #answers = 0;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(cluster: TestCluster, clusterId: string) {
    this.#clusterId = clusterId;
    this.#violated.promise.catch(() => undefined); // `during` rethrows it
    this.#ended = this.#run(cluster);
  }

  /** Rejects at the first such answer. */
  during<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#violated.promise]);
  }

  /** Stops the watch and asserts that there was none. */
  async neverViolated(): Promise<void> {
    await this[Symbol.asyncDispose]();
    assert.ok(this.#answers > 0, "no member answered");
    assert.deepEqual([...this.#violations], []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  /** Each pod is polled on its own: a silent one does not hold up the others. */
  async #run(cluster: TestCluster): Promise<void> {
    const asked = new Map<string, Promise<void>>();
    while (!this.#stop.signal.aborted) {
      const pods = await cluster.pods().catch(() => []);
      for (const { metadata, status } of pods) {
        const [name = "", address] = [metadata?.name, status?.podIP];
        if (address === undefined || asked.has(name)) continue;
        asked.set(
          name,
          this.#ask(name, address).finally(() => asked.delete(name)),
        );
      }
      await pause(everyMs);
    }
    await Promise.all(asked.values());
  }

  async #ask(name: string, address: string): Promise<void> {
    try {
      this.#judge(name, await memberAt(address).status({ deadline: 1_000, signal: this.#stop.signal }));
    } catch {
      // Down, or starting.
    }
  }

  #judge(name: string, now: MemberStatus): void {
    this.#answers += 1;
    if (now.clusterId !== this.#clusterId)
      this.#violation(`${name} answered with cluster id ${now.clusterId} instead of ${this.#clusterId}`);
    const before = this.#newest.get(name);
    if (before !== undefined && (now.revision < before.revision || now.raftTerm < before.raftTerm))
      this.#violation(
        `${name} went from revision ${before.revision}, term ${before.raftTerm} back to revision ${now.revision}, term ${now.raftTerm}`,
      );
    this.#newest.set(name, now);
  }

  #violation(sentence: string): void {
    this.#violations.add(sentence);
    this.#violated.reject(new assert.AssertionError({ message: sentence }));
  }
}
