// Metrics of the cluster controller, under the names of etcd-operator 0.9 where it had them. No label holds the text of an
// error. Only gauges have the name of a cluster, and their series go with it, so the registry does not grow for ever.
import type { CertificateInUse } from "./assess/certificates/certificates.ts";
import type { Space } from "./assess/space.ts";
import type { Key } from "../kube/objects/objects.ts";
import type { Counter, Gauge, Histogram, Labels, Registry } from "../kube/process/metrics.ts";

interface CertificatesMeasured {
  readonly inUse: readonly Omit<CertificateInUse, "warning">[];
  readonly problems: readonly unknown[];
}

/** What the operator knows of the members; undefined: nobody says, and what was seen last stays. */
export interface ClusterMeasured {
  readonly wanted: number;
  readonly healthy: number;
  readonly voters: number | undefined;
  readonly updated: number | undefined;
  readonly rolling: boolean;
  readonly alarms: Readonly<Record<string, number>>;
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
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
  readonly #expiry: Gauge;
  readonly #lifetime: Gauge;
  readonly #certificateProblems: Gauge;
  /** How large databases are, may become, and how much room they have. */
  readonly #size: Gauge;
  readonly #inUse: Gauge;
  readonly #quota: Gauge;
  readonly #volume: Gauge;
  readonly #members: Readonly<Record<"wanted" | "healthy" | "voters" | "updated" | "rolling", Gauge>>;
  readonly #alarms: Gauge;
  readonly #conditions: Gauge;
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
    this.#failedReconciles = counter("etcd_operator_cluster_reconcile_failed", "Failed reconciles, by Reason.");
    this.#expiry = registry.gauge({
      name: "etcd_operator_cluster_certificate_expiry_seconds",
      help: "Time at which a certificate in use expires, in seconds since 1970, by use and by whether it is provided by you or created by the operator.",
    });
    this.#lifetime = registry.gauge({
      name: "etcd_operator_cluster_certificate_lifetime_seconds",
      help: "Total lifetime of a certificate in use, from its notBefore to its notAfter.",
    });
    this.#certificateProblems = registry.gauge({
      name: "etcd_operator_cluster_certificate_problems",
      help: "Number of Secrets named in spec.TLS that cannot be used.",
    });
    const bytes = (what: string, help: string): Gauge =>
      registry.gauge({ name: `etcd_operator_cluster_${what}_bytes`, help });
    this.#size = bytes("db_size", "Size of the largest database file of any member.");
    this.#inUse = bytes(
      "db_in_use",
      "Size that the fullest database would have after a defragmentation; absent before etcd 3.4.",
    );
    this.#quota = bytes("db_quota", "Size at which the database takes no more writes.");
    this.#volume = bytes("volume_size", "Size of the smallest volume of any member.");
    const gauge = (what: string, help: string): Gauge =>
      registry.gauge({ name: `etcd_operator_cluster_${what}`, help });
    this.#members = {
      wanted: gauge("members_wanted", "Number of members that the spec asks for."),
      healthy: gauge("members_healthy", "Number of voters that can read through the quorum."),
      voters: gauge("voters", "Number of voting members, whether they answer or not."),
      updated: gauge("members_updated", "Number of members that have the version and the settings of the spec."),
      rolling: gauge("rolling", "1 while the operator changes members one at a time."),
    };
    this.#alarms = gauge("alarms", "Number of members that raise an etcd alarm, by type: noSpace or corrupt.");
    this.#conditions = gauge("condition", "Conditions of the status, by type and reason: 1 means True, 0 means False.");
    this.recoverySeconds = registry.histogram({
      name: "etcd_operator_cluster_recovery_seconds",
      help: "Time from the loss of a member until all members were healthy again.",
      buckets: waitBuckets,
    });
  }

  /** A cluster without TLS has none of these. */
  certificatesOf(key: Key, { inUse, problems }: CertificatesMeasured): void {
    const labels = seriesLabels(key);
    this.#expiry.remove(labels);
    this.#lifetime.remove(labels);
    this.#certificateProblems.remove(labels);
    for (const { use, source, notAfter, notBefore } of inUse) {
      this.#expiry.set({ ...labels, use, source }, Math.floor(notAfter / 1000));
      this.#lifetime.set({ ...labels, use, source }, Math.round((notAfter - notBefore) / 1000));
    }
    if (inUse.length > 0 || problems.length > 0) this.#certificateProblems.set(labels, problems.length);
  }

  /** While nobody answers, what was seen last stays. */
  spaceOf(key: Key, { size, inUse, quota, volume }: Space): void {
    const labels = seriesLabels(key);
    this.#size.set(labels, size);
    this.#quota.set(labels, quota);
    setOrRemove(this.#inUse, labels, inUse);
    setOrRemove(this.#volume, labels, volume);
  }

  membersOf(key: Key, { alarms, conditions, rolling, ...counts }: ClusterMeasured): void {
    const labels = seriesLabels(key);
    for (const what of ["wanted", "healthy", "voters", "updated"] as const) {
      const count = counts[what];
      if (count !== undefined) this.#members[what].set(labels, count);
    }
    this.#members.rolling.set(labels, rolling ? 1 : 0);
    for (const [type, raised] of Object.entries(alarms)) this.#alarms.set({ ...labels, type }, raised);
    // The reason is a label, so the series of the last one goes.
    this.#conditions.remove(labels);
    for (const { type, status, reason } of conditions)
      this.#conditions.set({ ...labels, type, reason }, status === "True" ? 1 : 0);
  }

  /** Forgets a cluster that is no more, or no longer this operator's. */
  forget(key: Key): void {
    for (const gauge of this.#ofClusters()) gauge.remove(seriesLabels(key));
  }

  /** For a process that no longer leads: another one says what is the case. */
  forgetAll(): void {
    for (const gauge of this.#ofClusters()) gauge.clear();
  }

  #ofClusters(): readonly Gauge[] {
    const space = [this.#size, this.#inUse, this.#quota, this.#volume];
    const members = Object.values(this.#members);
    return [
      this.#expiry,
      this.#lifetime,
      this.#certificateProblems,
      ...space,
      ...members,
      this.#alarms,
      this.#conditions,
    ];
  }

  reconcile(ended: "done" | "notYet" | "refused" | "failed" | "lostQuorum", seconds: number): void {
    if (ended === "done" || ended === "notYet") this.#reconcileSeconds.observe({}, seconds);
    else this.#failedReconciles.add({ Reason: ended });
  }
}

/** As the label of the pods. Not `cluster`: many give that name to a whole Kubernetes. Other labels come behind, in ABC order. */
const seriesLabels = ({ namespace, name }: Key): { namespace: string; etcd_cluster: string } => ({
  namespace,
  etcd_cluster: name,
});

function setOrRemove(gauge: Gauge, labels: Labels, value: number | undefined): void {
  if (value === undefined) gauge.remove(labels);
  else gauge.set(labels, value);
}
