// Labels, ports and names of a cluster's objects, as etcd-operator 0.9 had them.
import { type CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import type { KubeObject, OwnerReference } from "../../kube/objects/objects.ts";
import { controllerOf, ownerReference } from "../../kube/objects/owners.ts";

export const ports = { client: 2379, peer: 2380, metrics: 2381 } as const;

interface NamedCluster {
  readonly metadata: Pick<CompleteEtcdCluster["metadata"], "name">;
}

/** On pods, Services and the budget; the selector of all of them. */
export function labelsOf(cluster: NamedCluster): Record<string, string> {
  return { app: "etcd", etcd_cluster: cluster.metadata.name };
}

/** The same as a text, for the scale subresource and for lists. */
export function selectorOf(cluster: NamedCluster): string {
  return Object.entries(labelsOf(cluster))
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
}

export interface OwnedMetadata {
  name: string;
  namespace: string;
  labels: Record<string, string>;
  ownerReferences: OwnerReference[];
}

/** On something that belongs to the cluster and goes with it. */
export function metadataOf(cluster: CompleteEtcdCluster, name: string): OwnedMetadata {
  return {
    name,
    namespace: cluster.metadata.namespace,
    labels: labelsOf(cluster),
    ownerReferences: [ownerReference(EtcdCluster, cluster)],
  };
}

export const cachedLabels = "app=etcd";

export const isCached = ({ metadata }: KubeObject): boolean => metadata?.labels?.["app"] === "etcd";

/**
 * The Services, the budget and our own cache select a member's pod by its labels: one that has lost them runs on, but its peers
 * cannot resolve its name any more. Compared with the name of its owner, so that the pod alone is enough.
 */
export function hasItsLabels(pod: Pod): boolean {
  const { app, etcd_cluster: cluster } = pod.metadata?.labels ?? {};
  return app === "etcd" && cluster === controllerOf(pod)?.name;
}
