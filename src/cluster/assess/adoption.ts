// Whether a new EtcdCluster goes on with the volumes that an earlier one of its name has left behind, and if that is asked
// for and cannot be done, why not.
import type { World } from "../observe/world.ts";
import { hasBegun } from "./claims.ts";
import { isKnownToHaveServed } from "./health.ts";
import { restoringOf } from "./restoring.ts";

/** It asks for volumes, has no data of its own, and those that are there are of one etcd. */
export function isAdopting(world: World): boolean {
  return isAsked(world) && adoptionProblem(world) === undefined;
}

function isAsked({ cluster, leftClaims, pods }: World): boolean {
  // Its data comes from a backup.
  if (cluster.status.restore !== undefined || restoringOf(cluster).t !== "no") return false;
  if (cluster.spec.pod.persistentVolumeClaimSpec === undefined || isKnownToHaveServed(cluster.status)) return false;
  return leftClaims.length > 0 && pods.length === 0;
}

export function adoptionProblem(world: World): string | undefined {
  if (!isAsked(world)) return undefined;
  const { claims, leftClaims } = world;
  const names = leftClaims.map(({ name }) => name).join(", ");
  const choice = `To go on with that data, keep the claims that belong together; to begin anew, delete them: kubectl delete pvc ${leftClaims.map(({ name }) => name).join(" ")}.`;
  if (!leftClaims.every(hasBegun))
    return `Volumes of an earlier cluster of this name are there (${names}), and not all of them say whose data they hold. ${choice}`;
  const ids = new Set([...claims.filter(hasBegun), ...leftClaims].map(({ clusterId }) => clusterId));
  if (ids.size > 1) return `Volumes of several earlier clusters of this name are there (${names}). ${choice}`;
  return undefined;
}
