// Polls the Ready condition and keeps every message with which it was not True.
import { setTimeout as pause } from "node:timers/promises";
import type { TestCluster } from "../support/cluster.ts";
import { conditionOf } from "../support/status.ts";

const everyMs = 250;

export class ReadyWatch {
  readonly #setbacks = new Set<string>();
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(cluster: TestCluster) {
    this.#ended = this.#run(cluster);
  }

  /** In order; empty when Ready was True at every poll. */
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
      } catch {
        // Asked again: what the API server does not answer in time says nothing about the cluster.
      }
      await pause(everyMs);
    }
  }
}
