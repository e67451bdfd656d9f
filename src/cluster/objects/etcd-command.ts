// How a member's etcd is started: a command line that every version from 3.2 to 3.7 takes, and the rest as variables.
// A pod's image can be changed in place, its arguments and variables cannot. An unknown flag ends etcd, an unknown
// variable is only a warning, and one setting given both ways ends etcd from 3.4 on.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type ExtraSetting, extraSettings, variableOf } from "../../api/etcd-cluster/etcd-flags.ts";
import { imagePrograms } from "../../etcd/versions/features.ts";
import { isInEveryVersion, spellingsToSet } from "../../etcd/versions/flags.ts";
import { type EtcdVersion, parseVersion } from "../../etcd/versions/version.ts";
import { ports } from "./labels.ts";
import { clientUrlOf, hostOf, type MemberName, peerUrlOf } from "./names.ts";
import { plainText, type PodTls, type Scheme, schemeOf, tlsFlags, tlsVariables } from "./tls.ts";

export const dataDirectory = "/var/etcd/data";

/** How many learners a member admits at a time: as many as the largest cluster can lack. */
const mostLearners = 8;

export function versionOf(cluster: CompleteEtcdCluster): EtcdVersion {
  const version = parseVersion(cluster.spec.version);
  if (version === undefined) throw new RangeError(`"${cluster.spec.version}" is not an etcd version`);
  return version;
}

/** In the order in which etcd-operator 0.9 wrote its flags. `quota`: where the spec says none. */
export function commandOf(
  cluster: CompleteEtcdCluster,
  member: MemberName,
  tls: PodTls = plainText,
  quota?: number,
): string[] {
  const [peers, clients] = [schemeOf(tls.peer === "tls"), schemeOf(tls.client)];
  const { quotaBackendBytes, autoCompactionRetention, snapshotCount, extraArgs = [] } = cluster.spec.etcd;
  return [
    imagePrograms.etcd,
    ...flag("data-dir", dataDirectory),
    ...flag("name", member),
    ...flag("initial-advertise-peer-urls", peerUrlOf(cluster, member, peers)),
    ...flag("listen-peer-urls", listen(ports.peer, peers)),
    ...flag("listen-client-urls", listen(ports.client, clients)),
    ...flag("advertise-client-urls", clientUrlOf(cluster, member, clients)),
    ...tlsFlags(tls).flatMap(([name, value]) => flag(name, value)),
    // A new cluster with the name of one that was deleted a moment ago must not be taken for it.
    ...flag("initial-cluster-token", cluster.metadata.uid ?? ""),
    ...flag("quota-backend-bytes", quotaBackendBytes ?? quota),
    ...flag("auto-compaction-retention", autoCompactionRetention),
    ...flag("snapshot-count", snapshotCount),
    ...extraSettings(extraArgs).flatMap((extra) => {
      const name = flagOfEveryVersion(extra);
      return name === undefined ? [] : flag(name, extra.value);
    }),
  ];
}

/** Everything that some version lacks or calls by another name. */
export function environmentOf(
  cluster: CompleteEtcdCluster,
  member: MemberName,
  tls: PodTls = plainText,
): { name: string; value: string }[] {
  const { autoCompactionMode, extraArgs = [] } = cluster.spec.etcd;
  const values = new Map([
    ["listen-metrics-urls", listen(ports.metrics)],
    ["max-learners", String(mostLearners)],
    ...tlsVariables(versionOf(cluster), tls, { host: hostOf(cluster, member), chosen: chosenFlags(cluster) }),
  ]);
  if (autoCompactionMode !== undefined) values.set("auto-compaction-mode", autoCompactionMode);
  const gates = new Map<string, string>();
  for (const extra of extraSettings(extraArgs)) {
    if (flagOfEveryVersion(extra) !== undefined) continue;
    for (const spelling of spellingsToSet(versionOf(cluster), extra.spelling)) {
      if (spelling.t === "flag") values.set(spelling.name, extra.value);
      else gates.set(spelling.gate, extra.value);
    }
  }
  if (gates.size > 0) values.set("feature-gates", [...gates].map((gate) => gate.join("=")).join(","));
  return [...values].map(([name, value]) => ({ name: variableOf(name), value }));
}

/** The flags that a person sets, as arguments or as variables. */
export function chosenFlags({ spec: { etcd, pod } }: CompleteEtcdCluster): readonly string[] {
  const asArguments = extraSettings(etcd.extraArgs ?? []).flatMap(({ spelling }) =>
    spelling.t === "flag" ? [spelling.name] : [],
  );
  const asVariables = (pod.etcdEnv ?? []).map(({ name }) =>
    name
      .replace(/^ETCD_/, "")
      .toLowerCase()
      .replaceAll("_", "-"),
  );
  return [...asArguments, ...asVariables];
}

/** Go listens at 0.0.0.0 on IPv6 as well where the kernel has it; [::] would fail where it has not. */
const listen = (port: number, scheme: Scheme = "http"): string => `${scheme}://0.0.0.0:${port}`;

const flag = (name: string, value: string | number | undefined): string[] =>
  value === undefined ? [] : [`--${name}=${value}`];

const flagOfEveryVersion = ({ spelling }: ExtraSetting): string | undefined =>
  spelling.t === "flag" && isInEveryVersion(spelling.name) ? spelling.name : undefined;
