// Whether an operator runs that manages a cluster, by the Lease that its leader renews. Clusters are served without one,
// and nothing in them shows that nobody heals them any more.
import type { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { isInScope } from "../../api/scope.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { Lease } from "../../kube/objects/kinds.ts";

/** `unknown`: an operator of several namespaces may manage it, and its Lease can be anywhere. */
export type OperatorSeen =
  | { readonly t: "runs"; readonly namespace: string }
  | { readonly t: "silent"; readonly namespace: string; readonly lease: string }
  | { readonly t: "none" | "unknown" };

/** The Lease of the leader for clusters, as src/operator.ts names it. */
const leaseName = "etcd-operator";
const clusterwideName = `${leaseName}-clusterwide`;

/** Clocks differ, and a new leader needs its time. */
const patienceMs = 60_000;

export async function operatorOf(api: KubeApi, cluster: EtcdCluster, now: number): Promise<OperatorSeen> {
  const namespace = cluster.metadata?.namespace ?? "";
  const isClusterwide = isInScope(cluster, { t: "clusterwide" });
  const fieldSelector = `metadata.name=${isClusterwide ? clusterwideName : leaseName}`;
  const { items } = await api.list(Lease, { ...(!isClusterwide && { namespace }), fieldSelector });
  const seen = items.map((lease) => ({ lease, alive: isAlive(lease, now) }));
  const alive = seen.find((one) => one.alive);
  if (alive !== undefined) return { t: "runs", namespace: alive.lease.metadata?.namespace ?? "" };
  if (!isClusterwide) return { t: "unknown" };
  const [silent] = seen;
  if (silent === undefined) return { t: "none" };
  return { t: "silent", namespace: silent.lease.metadata?.namespace ?? "", lease: clusterwideName };
}

function isAlive({ spec }: Lease, now: number): boolean {
  const renewed = Date.parse(spec?.renewTime ?? "");
  const lasts = (spec?.leaseDurationSeconds ?? 0) * 1000;
  return spec?.holderIdentity !== undefined && spec.holderIdentity !== "" && now - renewed < lasts + patienceMs;
}
