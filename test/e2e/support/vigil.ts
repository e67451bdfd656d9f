// Looks at a cluster all the time, and remembers every sentence with which it was not ready.
import { setTimeout as pause } from "node:timers/promises";
import type { TestCluster } from "./cluster.ts";
import { conditionOf } from "./status.ts";

const everyMs = 250;

export class Vigil {
  readonly #setbacks = new Set<string>();
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(cluster: TestCluster) {
    this.#ended = this.#run(cluster);
  }

  /** What it has seen, in order; empty when the cluster was ready whenever it was looked at. */
  async end(): Promise<string[]> {
    this.#stop.abort();
    await this.#ended;
    return [...this.#setbacks];
  }

  async #run(cluster: TestCluster): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const ready = conditionOf(await cluster.get(), "Ready");
        if (ready?.status !== "True") this.#setbacks.add(`${ready?.reason}: ${ready?.message}`);
      } catch (error) {
        this.#setbacks.add(`it could not be looked at: ${error instanceof Error ? error.message : String(error)}`);
      }
      await pause(everyMs);
    }
  }
}
