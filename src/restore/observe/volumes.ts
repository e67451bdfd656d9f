// What the members of a cluster really have. The spec may ask for volumes that no member has got yet, or not ask any more for
// those that hold the data: what is kept when the members are stopped is in claims that are there.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { claimLabel, clusterIdAnnotation, isClaimOf } from "../../cluster/objects/claims.ts";
import { isImageCheck } from "../../cluster/objects/image-check.ts";
import { dataVolume } from "../../cluster/objects/member-pod.ts";
import type { PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import type { Volumes } from "./world.ts";

export function observedVolumes(
  cluster: CompleteEtcdCluster,
  claims: readonly PersistentVolumeClaim[],
  pods: readonly Pod[],
): Volumes {
  const kept = claims.filter((claim) => isClaimOf(claim, cluster) && isKept(claim));
  const holding = new Set(kept.filter((claim) => holdsDataOf(claim, cluster)).map(nameOf));
  const running = pods.filter((pod) => isControlledBy(pod, cluster) && !isImageCheck(pod));
  const { members, voters } = cluster.status;
  const names = voters.length > 0 ? voters : [...members.ready, ...members.unready];
  const holdAll = names.length > 0 && names.every((name) => holding.has(name)) && running.every(usesClaim);
  return { kept: kept.map(nameOf).toSorted(), holdAll };
}

const nameOf = ({ metadata }: PersistentVolumeClaim): string => metadata?.name ?? "";

/** There is a volume, of a member that was not removed, and nobody takes it away. */
function isKept({ metadata, status }: PersistentVolumeClaim): boolean {
  const isCurrent = metadata?.labels?.[claimLabel] !== "retired";
  return isCurrent && metadata?.deletionTimestamp === undefined && status?.phase === "Bound";
}

/** Its member has started with it, as a part of this very etcd. */
function holdsDataOf({ metadata }: PersistentVolumeClaim, { status: { clusterId } }: CompleteEtcdCluster): boolean {
  const written = metadata?.annotations?.[clusterIdAnnotation];
  return written !== undefined && (clusterId === undefined || written === clusterId);
}

const usesClaim = ({ metadata, spec }: Pod): boolean =>
  spec?.volumes?.some(
    ({ name, persistentVolumeClaim }) => name === dataVolume && persistentVolumeClaim?.claimName === metadata?.name,
  ) === true;
