// The command line of a member: what the operator of 2018 wrote, in its order, then what newer versions have and what
// the person asked for, each in the spelling of the version that runs.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { flagName } from "../../api/etcd-cluster/etcd-flags.ts";
import { has, imagePrograms } from "../../etcd/versions/features.ts";
import { spell } from "../../etcd/versions/flags.ts";
import { type EtcdVersion, parseVersion } from "../../etcd/versions/version.ts";
import { clientUrlOf, peerUrlOf } from "./names.ts";
import { ports } from "./labels.ts";

export const dataDirectory = "/var/etcd/data";

/** How many learners a member admits at a time: as many as the largest cluster can lack. */
export const mostLearners = 8;

/** As etcd knows it, with the name that it has or will have. */
export interface ListedMember {
  readonly name: string;
  readonly peerUrls: readonly string[];
}

/** How a member comes to its first data; with data of its own it looks at none of this. */
export type FirstStart =
  /** The first of all, alone. */
  | { readonly as: "seed" }
  /** With the list exactly as etcd has it, the member itself included: it ends when they differ. */
  | { readonly as: "joining"; readonly members: readonly ListedMember[] };

export function versionOf(cluster: CompleteEtcdCluster): EtcdVersion {
  const version = parseVersion(cluster.spec.version);
  if (version === undefined) throw new RangeError(`"${cluster.spec.version}" is no etcd version`);
  return version;
}

export function commandOf(cluster: CompleteEtcdCluster, member: string, start: FirstStart): string[] {
  const version = versionOf(cluster);
  const peerUrl = peerUrlOf(cluster, member);
  const list =
    start.as === "seed"
      ? [`${member}=${peerUrl}`]
      : start.members.flatMap(({ name, peerUrls }) => peerUrls.map((url) => `${name}=${url}`));
  // Go listens at 0.0.0.0 on IPv6, too, wherever the kernel has it; [::] would fail where it has not.
  const listen = (port: number): string => `http://0.0.0.0:${port}`;
  return [
    imagePrograms.etcd,
    `--data-dir=${dataDirectory}`,
    `--name=${member}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--listen-peer-urls=${listen(ports.peer)}`,
    `--listen-client-urls=${listen(ports.client)}`,
    `--advertise-client-urls=${clientUrlOf(cluster, member)}`,
    `--initial-cluster=${list.join(",")}`,
    `--initial-cluster-state=${start.as === "seed" ? "new" : "existing"}`,
    // Made of the object's uid: a cluster of the same name that was deleted a moment ago is another one.
    ...(start.as === "seed" ? [`--initial-cluster-token=${cluster.metadata.uid ?? ""}`] : []),
    ...(has(version, "metricsListener") ? [`--listen-metrics-urls=${listen(ports.metrics)}`] : []),
    ...(has(version, "maxLearners") ? [`--max-learners=${mostLearners}`] : []),
    ...settings(cluster),
    ...spelled(version, cluster.spec.etcd.extraArgs ?? []),
  ];
}

function settings({ spec: { etcd } }: CompleteEtcdCluster): string[] {
  const flag = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`--${name}=${value}`];
  return [
    ...flag("quota-backend-bytes", etcd.quotaBackendBytes),
    ...flag("auto-compaction-mode", etcd.autoCompactionMode),
    ...flag("auto-compaction-retention", etcd.autoCompactionRetention),
    ...flag("snapshot-count", etcd.snapshotCount),
  ];
}

/** Feature gates share one flag, which counts only once. */
function spelled(version: EtcdVersion, args: readonly string[]): string[] {
  const gates: string[] = [];
  const flags: string[] = [];
  for (const arg of args) {
    const name = flagName(arg);
    const at = arg.indexOf("=");
    const value = at < 0 ? undefined : arg.slice(at + 1);
    const spelling = spell(version, name);
    if (spelling.t === "featureGate") gates.push(`${spelling.gate}=${value ?? "true"}`);
    else if (name === "feature-gates") gates.push(value ?? "");
    else flags.push(`--${spelling.t === "flag" ? spelling.name : name}${value === undefined ? "" : `=${value}`}`);
  }
  return gates.length === 0 ? flags : [...flags, `--feature-gates=${gates.filter((gate) => gate !== "").join(",")}`];
}
