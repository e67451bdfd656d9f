// Metrics of the cluster controller, under the names of etcd-operator 0.9 where it had them. No label holds the text of an
// error. Only gauges have the name of a cluster, and their series go with it, so the registry does not grow for ever.
import type { Key } from "../kube/objects/objects.ts";
import type { Counter, Gauge, Histogram, Registry } from "../kube/process/metrics.ts";

interface CertificatesMeasured {
  readonly inUse: readonly { readonly use: string; readonly notAfter: number }[];
  readonly problems: readonly unknown[];
}

interface SpaceMeasured {
  readonly size: number;
  readonly quota: number;
  readonly volume: number | undefined;
}

/** From a tenth of a second to just under a minute, as they were. */
const reconcileBuckets = Array.from({ length: 10 }, (_, power) => 0.1 * 2 ** power);
const waitBuckets = [1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300, 600];

export class ClusterMetrics {
  readonly clusters: Gauge;
  readonly created: Counter;
  readonly deleted: Counter;
  readonly modified: Counter;
  /** Clusters that need a person. */
  readonly failed: Counter;
  readonly recoverySeconds: Histogram;
  /** When each certificate expires. */
  readonly #expiry: Gauge;
  readonly #certificateProblems: Gauge;
  /** Of databases: how large they are, may become, and how much room they have. */
  readonly #size: Gauge;
  readonly #quota: Gauge;
  readonly #volume: Gauge;
  readonly #reconcileSeconds: Histogram;
  readonly #failedReconciles: Counter;

  constructor(registry: Registry) {
    const counter = (name: string, help: string): Counter => registry.counter({ name, help });
    this.clusters = registry.gauge({
      name: "etcd_operator_controller_clusters",
      help: "EtcdClusters that this operator manages.",
    });
    this.created = counter("etcd_operator_controller_clusters_created", "EtcdClusters created.");
    this.deleted = counter("etcd_operator_controller_clusters_deleted", "EtcdClusters deleted.");
    this.modified = counter("etcd_operator_controller_clusters_modified", "Changes of an EtcdCluster's spec.");
    this.failed = counter("etcd_operator_controller_clusters_failed", "EtcdClusters that entered phase Failed.");
    // From the start: a counter that appears with its first increment hides it from increase().
    for (const one of [this.created, this.deleted, this.modified, this.failed]) one.add({}, 0);
    this.#reconcileSeconds = registry.histogram({
      name: "etcd_operator_cluster_reconcile_duration",
      help: "Duration in seconds of reconciles that did not fail.",
      buckets: reconcileBuckets,
    });
    this.#failedReconciles = counter("etcd_operator_cluster_reconcile_failed", "Reconciles that failed, by Reason.");
    this.#expiry = registry.gauge({
      name: "etcd_operator_cluster_certificate_expiry_seconds",
      help: "When a certificate in use expires, in seconds since 1970, by its use.",
    });
    this.#certificateProblems = registry.gauge({
      name: "etcd_operator_cluster_certificate_problems",
      help: "How many Secrets that spec.TLS names cannot be used.",
    });
    const bytes = (what: string, help: string): Gauge =>
      registry.gauge({ name: `etcd_operator_cluster_${what}_bytes`, help });
    this.#size = bytes("db_size", "Size of the largest database file of the members.");
    this.#quota = bytes("db_quota", "Size at which the database takes no more writes.");
    this.#volume = bytes("volume_size", "Size of the smallest volume of the members.");
    this.recoverySeconds = registry.histogram({
      name: "etcd_operator_cluster_recovery_seconds",
      help: "From the loss of a member until all were healthy again.",
      buckets: waitBuckets,
    });
  }

  /** Of a cluster without TLS there is nothing to say. */
  certificatesOf({ namespace, name: cluster }: Key, { inUse, problems }: CertificatesMeasured): void {
    const labels = { namespace, cluster };
    this.#expiry.remove(labels);
    this.#certificateProblems.remove(labels);
    for (const { use, notAfter } of inUse) this.#expiry.set({ ...labels, use }, Math.floor(notAfter / 1000));
    if (inUse.length > 0 || problems.length > 0) this.#certificateProblems.set(labels, problems.length);
  }

  /** While nobody answers, what was seen last stays. */
  spaceOf({ namespace, name: cluster }: Key, { size, quota, volume }: SpaceMeasured): void {
    const labels = { namespace, cluster };
    this.#size.set(labels, size);
    this.#quota.set(labels, quota);
    if (volume === undefined) this.#volume.remove(labels);
    else this.#volume.set(labels, volume);
  }

  /** Of a cluster that is no more, or no longer this operator's. */
  forget(key: Key): void {
    this.certificatesOf(key, { inUse: [], problems: [] });
    const { namespace, name: cluster } = key;
    for (const gauge of [this.#size, this.#quota, this.#volume]) gauge.remove({ namespace, cluster });
  }

  reconcile(ended: "done" | "notYet" | "refused" | "failed" | "lostQuorum", seconds: number): void {
    if (ended === "done" || ended === "notYet") this.#reconcileSeconds.observe({}, seconds);
    else this.#failedReconciles.add({ Reason: ended });
  }
}
