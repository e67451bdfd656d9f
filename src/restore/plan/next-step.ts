// From one step of a restore to the next: whether what the cluster holds is saved first, and what is said when the cluster is
// about to be replaced.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { findCondition } from "../../kube/objects/conditions.ts";
import { sourceOf } from "../../worker/source.ts";
import type { World } from "../observe/world.ts";
import type { Decision, Facts, Note } from "./decision.ts";

/** Once the backup is proved, and nothing holds it up. */
export function afterCheck(world: World): Decision {
  const { restore, cluster } = world;
  if (restore.status.inPlace !== true || cluster === undefined) return toRestoring(world);
  if (hasVolumes(cluster)) return toRestoring(world, { keptVolumes: claimsOf(cluster) });
  if (restore.spec.safetySnapshot === "Skip") return toRestoring(world);
  if (!canBeSaved(cluster))
    return toRestoring(world, {}, [
      ["dataNotSaved", "No member of the cluster answers, so what it held could not be saved before it is replaced."],
    ]);
  return { t: "go", to: "Saving", because: "What the cluster holds is saved before it is replaced." };
}

export function toRestoring({ restore }: World, record: Facts = {}, notes: readonly Note[] = []): Decision {
  const { inPlace, backup } = restore.status;
  const { name } = restore.spec.etcdCluster;
  const from = `the backup ${backup?.path ?? ""} of revision ${backup?.revision ?? 0}`;
  const because =
    inPlace === true
      ? `The data of the EtcdCluster ${name} is replaced by ${from}.`
      : `The EtcdCluster ${name} is made from ${from}.`;
  return { t: "go", to: "Restoring", because, record, notes: [...notes, ["restoreBegun", because]] };
}

/** The members' volumes are kept, each in a claim of the member's name. */
const hasVolumes = ({ spec }: CompleteEtcdCluster): boolean => spec.pod.persistentVolumeClaimSpec !== undefined;

function claimsOf({ status: { members, voters } }: CompleteEtcdCluster): string {
  return [...new Set([...voters, ...members.ready, ...members.unready])].toSorted().join(", ");
}

/** Any member can give a snapshot, with a quorum or without. */
export function canBeSaved(cluster: CompleteEtcdCluster): boolean {
  return sourceOf(cluster) !== undefined && (isAvailable(cluster) || cluster.status.members.ready.length > 0);
}

export const isAvailable = ({ status }: CompleteEtcdCluster): boolean =>
  findCondition(status.conditions, "Available")?.status === "True";
