// Reads everything that a pass decides from, once: Kubernetes from the caches, etcd live. It makes no list calls and
// changes nothing.
import { type CompleteEtcdCluster, EtcdCluster, problemsOf, withDefaults } from "../api/etcd-cluster.ts";
import { parseClusterId } from "../etcd/ids.ts";
import type { Key, KubeObject } from "../kube/objects.ts";
import { isControlledBy } from "../kube/owners.ts";
import type { ClusterContext } from "./context.ts";
import { observedEtcd } from "./observed-etcd.ts";
import { observedPod } from "./observed-pod.ts";
import { clientServiceName } from "./services.ts";
import type { World } from "./world.ts";

/** Undefined when there is no such cluster, when it is going, or when it is another operator's. */
export async function observe(key: Key, signal: AbortSignal, context: ClusterContext): Promise<World | undefined> {
  const caches = context.caches(key.namespace);
  const stored = caches.clusters.get(key);
  if (stored === undefined || stored.metadata?.deletionTimestamp !== undefined) return undefined;
  if (!context.isOurs(stored)) return undefined;
  const cluster = withDefaults(stored);
  const own = <T extends KubeObject>(object: T | undefined): T | undefined =>
    object !== undefined && isControlledBy(object, cluster) ? object : undefined;
  const pods = caches.pods
    .ownedBy(cluster.metadata.uid ?? "")
    .filter((pod) => isControlledBy(pod, cluster))
    .map((pod) => observedPod(pod, caches.nodes));
  const latched = cluster.status.clusterId === undefined ? undefined : parseClusterId(cluster.status.clusterId);
  return {
    cluster,
    problems: [...problemsOf(stored), ...notYet(cluster)],
    pods,
    peerService: own(caches.services.get(key)),
    clientService: own(caches.services.get({ ...key, name: clientServiceName(cluster) })),
    budget: own(caches.budgets.get(key)),
    etcd: await observedEtcd(pods, { members: context.members, latched, signal }),
  };
}

/** What the API has and this release cannot do yet. Doing less than asked, unsaid, would be worse than doing nothing. */
function notYet({ spec }: CompleteEtcdCluster): string[] {
  const problems: string[] = [];
  if (spec.TLS !== undefined)
    problems.push("spec.TLS is not implemented in this release: remove it, or wait for a release that has it.");
  if (spec.pod.persistentVolumeClaimSpec !== undefined)
    problems.push(
      "spec.pod.persistentVolumeClaimSpec is not implemented in this release: remove it, or wait for a release that has it.",
    );
  return problems;
}

/** `etcd.database.coreos.com/scope: clusterwide` is for an operator of the whole cluster; without it, for one of a namespace. */
export const scopeAnnotation = `${EtcdCluster.group}/scope`;

export function isInScope(cluster: EtcdCluster, scope: "clusterwide" | "namespaces"): boolean {
  const annotation = cluster.metadata?.annotations?.[scopeAnnotation];
  return scope === "clusterwide" ? annotation === "clusterwide" : annotation === undefined;
}
