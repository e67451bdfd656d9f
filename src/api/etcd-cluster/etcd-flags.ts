// Which flags of etcd a person may not set with `spec.etcd.extraArgs` or through the environment, because the operator
// sets them or because data would be lost.

/** They say who a member is, where it listens and whom it trusts, or make it forget: the operator's alone. */
export const operatorsFlags: readonly string[] = `
  name data-dir wal-dir config-file
  initial-advertise-peer-urls initial-cluster initial-cluster-state initial-cluster-token
  listen-peer-urls listen-client-urls listen-client-http-urls listen-metrics-urls advertise-client-urls
  max-learners strict-reconfig-check proxy
  discovery discovery-endpoints discovery-fallback discovery-srv discovery-token
  cert-file key-file trusted-ca-file ca-file client-cert-auth auto-tls client-cert-file client-key-file
  peer-cert-file peer-key-file peer-trusted-ca-file peer-ca-file peer-client-cert-auth peer-auto-tls
  peer-client-cert-file peer-client-key-file
  force-new-cluster unsafe-no-fsync`
  .trim()
  .split(/\s+/);

/** Without a conflict with the operator's own flags they are obeyed, and each can lose what was acknowledged. */
export const dangerousFlags: readonly string[] = [
  "config-file",
  "discovery",
  "discovery-srv",
  "force-new-cluster",
  "proxy",
  "strict-reconfig-check",
  "unsafe-no-fsync",
  "wal-dir",
];

/** Flags that have a field of their own in `spec.etcd`. */
export const fieldsOfFlags: ReadonlyMap<
  string,
  "autoCompactionMode" | "autoCompactionRetention" | "quotaBackendBytes" | "snapshotCount"
> = new Map([
  ["auto-compaction-mode", "autoCompactionMode"],
  ["auto-compaction-retention", "autoCompactionRetention"],
  ["quota-backend-bytes", "quotaBackendBytes"],
  ["snapshot-count", "snapshotCount"],
]);

/** `name` of `--name=value`. */
export function flagName(arg: string): string {
  const [flag = ""] = arg.split("=", 1);
  return flag.replace(/^--?/, "");
}

/** The variable that etcd reads for a flag, as in ETCD_DATA_DIR. */
export function variableOf(flag: string): string {
  return `ETCD_${flag.toUpperCase().replaceAll("-", "_")}`;
}
