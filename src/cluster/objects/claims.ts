// The claim of a member's own volume. It has the name of its member, and what has to outlive pod and cluster is written on
// it: whose it is, whether its member is one of the cluster's, and which etcd it holds the data of.
import type { PersistentVolumeClaimSpec } from "kubernetes-types/core/v1.js";
import { type CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { amountOf } from "../../api/etcd-cluster/resource-problems.ts";
import type { PersistentVolumeClaim } from "../../kube/objects/kinds.ts";
import { keyOf, keyText, type KubeObject, type OwnerReference } from "../../kube/objects/objects.ts";
import { isControlledBy, ownerReference } from "../../kube/objects/owners.ts";
import { labelsOf } from "./labels.ts";
import type { MemberName } from "./names.ts";

/** `current`: its member belongs to the cluster. `retired`: it was removed, and the volume is kept for people. */
export const claimLabel = "etcd_claim";
/** The uid of the EtcdCluster: a claim may outlive it, so an owner reference cannot say it. */
export const clusterUidAnnotation = `${EtcdCluster.group}/cluster-uid`;
/**
 * The namespace and name of the EtcdCluster whose data it holds, as in shop/orders. etcd's data lists its members by hosts of
 * that namespace, and tools that copy claims to another one take annotations along.
 */
export const homeAnnotation = `${EtcdCluster.group}/cluster`;
/** The id of etcd's own cluster. It is there once the member has started: from then on an empty volume is a loss. */
export const clusterIdAnnotation = `${EtcdCluster.group}/cluster-id`;
/**
 * On a claim: the image that the member ran last; its version is in `etcd.version`. On a pod: the image that was asked for,
 * which admission may have rewritten in its container, as registry mirrors do.
 */
export const imageAnnotation = `${EtcdCluster.group}/image`;
/** The scheme of the peer URL under which its member is listed; absent: http. */
export const peerSchemeAnnotation = `${EtcdCluster.group}/peer-scheme`;
/** The size that its storage class refused. */
export const cannotGrowAnnotation = `${EtcdCluster.group}/cannot-grow`;

export function memberClaim(cluster: CompleteEtcdCluster, member: MemberName): PersistentVolumeClaim {
  const { persistentVolumeClaimSpec: spec } = cluster.spec.pod;
  if (spec === undefined) throw new RangeError("the spec asks for no volumes");
  return {
    metadata: {
      name: member,
      namespace: cluster.metadata.namespace,
      labels: { ...labelsOf(cluster), etcd_node: member, [claimLabel]: "current" },
      annotations: ownNotes(cluster),
      ownerReferences: ownersOf(cluster),
    },
    spec,
  };
}

/** Whose it is. */
export function ownNotes(cluster: CompleteEtcdCluster): Record<string, string> {
  return { [clusterUidAnnotation]: cluster.metadata.uid ?? "", [homeAnnotation]: keyText(keyOf(cluster)) };
}

/** With an owner Kubernetes deletes it when the EtcdCluster is deleted. */
export function ownersOf(cluster: CompleteEtcdCluster): OwnerReference[] {
  return cluster.spec.volumeRetention.whenClusterDeleted === "Delete" ? [ownerReference(EtcdCluster, cluster)] : [];
}

export const homeOf = ({ metadata }: KubeObject): string | undefined => metadata?.annotations?.[homeAnnotation];

/** Belongs to this very EtcdCluster. Those of etcd-operator 0.9 say so by their owner only. */
export function isClaimOf(claim: KubeObject, cluster: KubeObject): boolean {
  const home = keyText(keyOf(cluster));
  if ((homeOf(claim) ?? home) !== home) return false;
  const uid = claim.metadata?.annotations?.[clusterUidAnnotation];
  return uid === undefined ? isControlledBy(claim, cluster) : uid === cluster.metadata?.uid;
}

/** Bytes; undefined when it is not said. */
export function requestOf(spec: PersistentVolumeClaimSpec | undefined): number | undefined {
  return amountOf(spec?.resources?.requests?.["storage"]);
}

export function requestTextOf(spec: PersistentVolumeClaimSpec | undefined): string {
  return spec?.resources?.requests?.["storage"] ?? "";
}
