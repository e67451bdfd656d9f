// What the expressions of alerts and dashboards have in common. Members are counted against what the operator wants, because a
// pod that is gone is scraped no more and leaves no series behind that could be counted as down.

/** Two objects of the same cluster. */
export const sameCluster = "on (namespace, etcd_cluster)";

/**
 * One series a cluster. The labels of the operator's pod must not be part of it: another replica that takes over would begin
 * the alert again.
 */
export const ofCluster = (metric: string): string => `max by (namespace, etcd_cluster) (${metric})`;

export const wanted: string = ofCluster("etcd_operator_cluster_members_wanted");
export const healthy: string = ofCluster("etcd_operator_cluster_members_healthy");
export const voters: string = ofCluster("etcd_operator_cluster_voters");
export const rolling: string = ofCluster("etcd_operator_cluster_rolling");

/** Members that only this operator's pods have the label of: other etcd servers may be scraped, too. */
export const ofMembers = (metric: string, ...matchers: string[]): string =>
  `${metric}{${['etcd_cluster!=""', ...matchers].join(",")}}`;

/** One series a member. */
export const ofMember = (metric: string): string => `max by (namespace, etcd_cluster, pod) (${metric})`;

/** So long after each member that was changed, a roll explains why one is missing. */
const rollPatience = "15m";

/** Nothing while members are changed one after another, and that goes on. */
export const unlessRollGoesOn = `unless ${sameCluster} (${rolling} == 1 and ${progressIn(rollPatience)})`;

/** A member was changed in the last `minutes`, or the change began. */
export function progressIn(time: string): string {
  return `${ofCluster(`changes(etcd_operator_cluster_members_updated[${time}])`)} > 0`;
}

/** In seconds, of the slowest hundredth, one series a member. */
export const slowest = (histogram: string): string =>
  `histogram_quantile(0.99, sum by (namespace, etcd_cluster, pod, le) (rate(${ofMembers(`${histogram}_bucket`)}[5m])))`;

const backup = (metric: string): string => `max by (namespace, name) (etcd_operator_backup_${metric})`;
export const backupDue: string = backup("due_timestamp_seconds");
export const backupFailures: string = backup("failures_in_a_row");
export const lastBackup: string = backup("last_success_timestamp_seconds");
export const lastVerified: string = backup("last_verified_timestamp_seconds");

/** Leases of the three programs; others in the same Prometheus elect leaders, too. */
export const ourLeases = 'name=~"etcd-(backup-|restore-)?operator.*"';
export const ourControllers = 'controller=~"etcd(cluster|backup|restore)"';
