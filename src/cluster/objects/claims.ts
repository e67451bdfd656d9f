// The claim of a member's own volume. It has the name of its member, and what has to outlive pod and cluster is written on
// it: whose it is, whether its member is one of the cluster's, and which etcd it holds the data of.
import type { PersistentVolumeClaimSpec } from "kubernetes-types/core/v1.js";
import { type CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { amountOf } from "../../api/etcd-cluster/resource-problems.ts";
import type { PersistentVolumeClaim } from "../../kube/objects/kinds.ts";
import type { KubeObject, OwnerReference } from "../../kube/objects/objects.ts";
import { isControlledBy, ownerReference } from "../../kube/objects/owners.ts";
import { labelsOf } from "./labels.ts";

/** `current`: its member belongs to the cluster. `retired`: it was removed, and the volume is kept for people. */
export const claimLabel = "etcd_claim";
/** Of the EtcdCluster: a claim may outlive it, so an owner reference cannot say it. */
export const clusterUidAnnotation = `${EtcdCluster.group}/cluster-uid`;
/** Of etcd. It is there once the member has started: from then on an empty volume is a loss. */
export const clusterIdAnnotation = `${EtcdCluster.group}/cluster-id`;
/** The image that the member ran last; its version is in `etcd.version`. */
export const imageAnnotation = `${EtcdCluster.group}/image`;
/** The size that its storage class refused. */
/** The scheme of the peer URL under which its member is listed; absent: http. */
export const peerSchemeAnnotation = `${EtcdCluster.group}/peer-scheme`;
export const cannotGrowAnnotation = `${EtcdCluster.group}/cannot-grow`;

export function memberClaim(cluster: CompleteEtcdCluster, member: string): PersistentVolumeClaim {
  const { persistentVolumeClaimSpec: spec } = cluster.spec.pod;
  if (spec === undefined) throw new RangeError("the spec asks for no volumes");
  return {
    metadata: {
      name: member,
      namespace: cluster.metadata.namespace,
      labels: { ...labelsOf(cluster), etcd_node: member, [claimLabel]: "current" },
      annotations: { [clusterUidAnnotation]: cluster.metadata.uid ?? "" },
      ownerReferences: ownersOf(cluster),
    },
    spec,
  };
}

/** With an owner Kubernetes deletes it when the EtcdCluster is deleted. */
export function ownersOf(cluster: CompleteEtcdCluster): OwnerReference[] {
  return cluster.spec.volumeRetention.whenClusterDeleted === "Delete" ? [ownerReference(EtcdCluster, cluster)] : [];
}

/** Of this very EtcdCluster. Those of etcd-operator 0.9 say so by their owner only. */
export function isClaimOf(claim: KubeObject, cluster: KubeObject): boolean {
  const uid = claim.metadata?.annotations?.[clusterUidAnnotation];
  return uid === undefined ? isControlledBy(claim, cluster) : uid === cluster.metadata?.uid;
}

/** Bytes; undefined when it is not said. */
export function requestOf(spec: PersistentVolumeClaimSpec | undefined): number | undefined {
  return amountOf(spec?.resources?.requests?.["storage"]);
}

/** As it is written. */
export function requestTextOf(spec: PersistentVolumeClaimSpec | undefined): string {
  return spec?.resources?.requests?.["storage"] ?? "";
}
