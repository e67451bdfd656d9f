// Asks every pod of a cluster for its etcd status all the time, and remembers every answer that no member may give: of
// another cluster, or from before what the same member has answered already.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { MemberStatus } from "../../../src/etcd/member.ts";
import type { TestCluster } from "./cluster.ts";
import { memberAt } from "./whole.ts";

const everyMs = 50;

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
    this.#violated.promise.catch(() => undefined); // whoever waits for something waits for this as well
    this.#ended = this.#run(cluster);
  }

  /** Waits for something as long as nobody gives such an answer. */
  during<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#violated.promise]);
  }

  /** Ends the watch. */
  async alwaysTheSame(): Promise<void> {
    await this[Symbol.asyncDispose]();
    assert.ok(this.#answers > 0, "nobody answered the watch");
    assert.deepEqual([...this.#violations], []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  /** One row of questions for each pod: one that does not answer keeps no other from being asked. */
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
      // It is down, or on its way up: what it does not say cannot be wrong.
    }
  }

  #judge(name: string, now: MemberStatus): void {
    this.#answers += 1;
    if (now.clusterId !== this.#clusterId)
      this.#violation(`${name} answered for the cluster ${now.clusterId}, and not for ${this.#clusterId}`);
    const before = this.#newest.get(name);
    if (before !== undefined && (now.revision < before.revision || now.raftTerm < before.raftTerm))
      this.#violation(
        `${name} was at revision ${before.revision} in term ${before.raftTerm}, and then at ${now.revision} in term ${now.raftTerm}`,
      );
    this.#newest.set(name, now);
  }

  #violation(sentence: string): void {
    this.#violations.add(sentence);
    this.#violated.reject(new assert.AssertionError({ message: sentence }));
  }
}
