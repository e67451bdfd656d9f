// Asks etcd, all the time, how many voters it has: the copies of its data.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { memberAt } from "../../e2e/support/healthy.ts";

const everyMs = 200;

export class Copies implements AsyncDisposable {
  #fewest = Number.POSITIVE_INFINITY;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(cluster: TestCluster) {
    this.#ended = this.#run(cluster);
  }

  /** Stops, and asserts that there were never fewer. */
  async neverFewerThan(voters: number): Promise<void> {
    await this[Symbol.asyncDispose]();
    assert.ok(Number.isFinite(this.#fewest), "no member answered");
    assert.ok(this.#fewest >= voters, `there were only ${this.#fewest} voters`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(cluster: TestCluster): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const pods = await cluster.pods().catch(() => []);
      const addresses = pods.flatMap(({ status }) => status?.podIP ?? []);
      await Promise.all(addresses.map((address) => this.#ask(address)));
      await pause(everyMs);
    }
  }

  async #ask(address: string): Promise<void> {
    try {
      const call = { deadline: 1_000, signal: this.#stop.signal };
      const { members } = await memberAt(address).memberList({ linearizable: true }, call);
      this.#fewest = Math.min(this.#fewest, members.filter(({ learner }) => !learner).length);
    } catch {
      // Down, starting, or not a member any more.
    }
  }
}
