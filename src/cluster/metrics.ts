// What the operator counts about clusters, under the names of 2018 where there were any. No label holds the name of a
// cluster or an error's text: a registry must not grow with what people do.
import type { Counter, Gauge, Histogram, Registry } from "../kube/process/metrics.ts";

/** From a tenth of a second to just under a minute, as they were. */
const passBuckets = Array.from({ length: 10 }, (_, power) => 0.1 * 2 ** power);
const waitBuckets = [1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300, 600];

export class ClusterMetrics {
  readonly clusters: Gauge;
  readonly created: Counter;
  readonly deleted: Counter;
  readonly modified: Counter;
  /** Clusters that came to need a person. */
  readonly failed: Counter;
  readonly recoverySeconds: Histogram;
  readonly #passSeconds: Histogram;
  readonly #failedPasses: Counter;

  constructor(registry: Registry) {
    const counter = (name: string, help: string): Counter => registry.counter({ name, help });
    this.clusters = registry.gauge({ name: "etcd_operator_controller_clusters", help: "EtcdClusters looked after." });
    this.created = counter("etcd_operator_controller_clusters_created", "EtcdClusters that were made.");
    this.deleted = counter("etcd_operator_controller_clusters_deleted", "EtcdClusters that were deleted.");
    this.modified = counter("etcd_operator_controller_clusters_modified", "Changes of an EtcdCluster's spec.");
    this.failed = counter("etcd_operator_controller_clusters_failed", "EtcdClusters that came to phase Failed.");
    // Told from the start: what begins with its first one hides it from those who ask how many came to be.
    for (const one of [this.created, this.deleted, this.modified, this.failed]) one.add({}, 0);
    this.#passSeconds = registry.histogram({
      name: "etcd_operator_cluster_reconcile_duration",
      help: "Seconds that a pass took which did not fail.",
      buckets: passBuckets,
    });
    this.#failedPasses = counter("etcd_operator_cluster_reconcile_failed", "Passes that failed, by Reason.");
    this.recoverySeconds = registry.histogram({
      name: "etcd_operator_cluster_recovery_seconds",
      help: "From the loss of a member until all were healthy again.",
      buckets: waitBuckets,
    });
  }

  reconcile(ended: "done" | "notYet" | "refused" | "failed" | "lostQuorum", seconds: number): void {
    if (ended === "done" || ended === "notYet") this.#passSeconds.observe({}, seconds);
    else this.#failedPasses.add({ Reason: ended });
  }
}
