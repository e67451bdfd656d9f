// Whether a new EtcdCluster goes on with the volumes that an earlier one of its name has left behind, and if that is asked
// for and cannot be done, why not. Copies of the volumes of a cluster that lives elsewhere are never taken over: etcd's data
// lists the members of that one by their hosts, and whoever starts on a copy speaks to them under the id of one of them.
import { keyOf, keyText } from "../../kube/objects/objects.ts";
import { homeOfPeerUrl } from "../objects/names.ts";
import type { Claim, ClusterWorld } from "../observe/world.ts";
import { hasBegun } from "./claims.ts";
import { isKnownToHaveServed } from "./health.ts";
import { restoringOf } from "./restoring.ts";

/** Why nothing is done: what is there holds the data of another EtcdCluster, in words; undefined: it does not. */
export function foreignProblem(world: ClusterWorld): string | undefined {
  return foreignMembers(world) ?? foreignVolumes(world);
}

const instead =
  "To have this data here, take a backup there and restore it here with an EtcdRestore (docs/backups.md#restore)";

function foreignVolumes(world: ClusterWorld): string | undefined {
  const { claims, cluster, foreignClaims, pods } = world;
  if (cluster.status.restore !== undefined || restoringOf(world).t !== "no") return undefined;
  // One that has data of its own has no use for them.
  if (foreignClaims.length === 0 || pods.length > 0 || claims.some(hasBegun)) return undefined;
  if (cluster.spec.pod.persistentVolumeClaimSpec === undefined) return undefined;
  const names = foreignClaims.map(({ name }) => name);
  const of = [...new Set(foreignClaims.map((claim) => claim.of))].join(", ");
  return `The claims ${names.join(", ")} hold copies of the data of the EtcdCluster ${of}: members on them would act as its members and disturb it, so nothing is started. ${instead}; to begin with an empty cluster, delete the copies: kubectl delete pvc ${names.join(" ")}.`;
}

/** The pods may have been started by an older operator, or by the tool that copied the volumes. */
function foreignMembers({ cluster, etcd }: ClusterWorld): string | undefined {
  if (!("members" in etcd) || etcd.members.length === 0) return undefined;
  const own = keyText(keyOf(cluster));
  const homes = etcd.members.filter(({ learner }) => !learner).map(({ peerUrls: [url = ""] }) => homeOfPeerUrl(url));
  const [home] = homes;
  if (home === undefined || home === own || homes.some((other) => other !== home)) return undefined;
  return `The pods run on copies of the data of the EtcdCluster ${home}: they take themselves for its members and may disturb it, and nothing is done to them. Delete this EtcdCluster, which ends them. ${instead}.`;
}

/** It asks for volumes, has no data of its own, and those that are there are of one etcd. */
export function isAdopting(world: ClusterWorld): boolean {
  return isAdoptionAsked(world) && adoptionProblem(world) === undefined && foreignProblem(world) === undefined;
}

function isAdoptionAsked(world: ClusterWorld): boolean {
  const { cluster, leftClaims, pods } = world;
  // Its data comes from a backup.
  if (cluster.status.restore !== undefined || restoringOf(world).t !== "no") return false;
  if (cluster.spec.pod.persistentVolumeClaimSpec === undefined || isKnownToHaveServed(cluster.status)) return false;
  return leftClaims.length > 0 && pods.length === 0;
}

export function adoptionProblem(world: ClusterWorld): string | undefined {
  if (!isAdoptionAsked(world)) return undefined;
  const { claims, leftClaims } = world;
  const names = leftClaims.map(({ name }) => name).join(", ");
  const choice = `To continue with that data, keep the claims that belong together; to begin with an empty cluster, delete them: kubectl delete pvc ${leftClaims.map(({ name }) => name).join(" ")}.`;
  const begun = [...claims, ...leftClaims].filter(hasBegun);
  if (!leftClaims.every((claim) => hasBegun(claim) || isBeside(claim, begun)))
    return `Volumes of an earlier cluster of this name are there (${names}), and not all of them say whose data they hold. ${choice}`;
  const ids = new Set(begun.map(({ clusterId }) => clusterId));
  if (ids.size > 1) return `Volumes of several earlier clusters of this name are there (${names}). ${choice}`;
  return undefined;
}

/** Its member had yet to start when the EtcdCluster that it was made for, and these for, was deleted. */
const isBeside = ({ clusterUid }: Claim, begun: readonly Claim[]): boolean =>
  clusterUid !== undefined && begun.some((other) => other.clusterUid === clusterUid);
