// Metrics of the restore controller. No label holds the name of an EtcdRestore: they are done once, and would be there for ever.
import type { Counter, Histogram, Registry } from "../kube/process/metrics.ts";

const buckets = [5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600, 7200];

export class RestoreMetrics {
  readonly #restores: Counter;
  readonly #seconds: Histogram;

  constructor(registry: Registry) {
    this.#restores = registry.counter({
      name: "etcd_operator_restores",
      help: "Finished EtcdRestores, by result: succeeded or failed.",
    });
    // From the start: a counter that appears with its first increment hides it from increase().
    for (const result of ["succeeded", "failed"]) this.#restores.add({ result }, 0);
    this.#seconds = registry.histogram({
      name: "etcd_operator_restore_duration_seconds",
      help: "Time from the start of an EtcdRestore until its cluster was ready.",
      buckets,
    });
  }

  ended(result: "succeeded" | "failed", seconds: number): void {
    this.#restores.add({ result });
    if (result === "succeeded" && Number.isFinite(seconds)) this.#seconds.observe({}, seconds);
  }
}
