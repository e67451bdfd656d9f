// The flags in `spec.etcd.extraArgs`: how they are read, and which ones are refused there and in the environment,
// because the operator sets them or because data would be lost.
import type { Spelling } from "../../etcd/versions/flags.ts";

/** They say who a member is, where it listens and whom it trusts, or make it lose data. Only the operator sets them. */
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

/** The operator gives these as variables: a second variable of that name would win, on every version. */
export const operatorsVariables: readonly string[] = [
  "initial-cluster",
  "initial-cluster-state",
  "listen-metrics-urls",
  "max-learners",
];

/** The operator does not set these, so etcd would obey a variable, and each can lose acknowledged writes. */
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

export interface ExtraSetting {
  /** As the person wrote it, for sentences: `--pre-vote`, or `the feature gate LeaseCheckpoint`. */
  readonly written: string;
  readonly spelling: Spelling;
  readonly value: string;
}

/** Reads the gates of `--feature-gates=A=true,B=false` as one setting each, and a flag without a value as true. */
export function extraSettings(args: readonly string[]): readonly ExtraSetting[] {
  return args.flatMap((arg) => {
    const name = flagName(arg);
    const value = valueAfterEquals(arg);
    if (name !== "feature-gates")
      return [{ written: `--${name}`, spelling: { t: "flag", name }, value: value ?? "true" }];
    return (value ?? "")
      .split(",")
      .filter((entry) => entry.trim() !== "")
      .map((entry): ExtraSetting => {
        const [gate = ""] = entry.trim().split("=", 1);
        const written = `the feature gate ${gate}`;
        return { written, spelling: { t: "featureGate", gate }, value: valueAfterEquals(entry.trim()) ?? "true" };
      });
  });
}

function valueAfterEquals(text: string): string | undefined {
  const at = text.indexOf("=");
  return at < 0 ? undefined : text.slice(at + 1);
}
