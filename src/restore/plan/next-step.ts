// From one step of a restore to the next: whether what the cluster holds is saved first, and what is said when the cluster is
// about to be replaced.
import { conditionOf } from "../../api/conditions.ts";
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Note } from "../../controllers/event.ts";
import { sourceOf } from "../../worker/source.ts";
import type { RestoreWorld } from "../observe/world.ts";
import { type RestoreDecision, type Recorded, go } from "./actions.ts";

/** Once the backup is proved, and nothing holds it up. */
export function afterCheck(world: RestoreWorld, now: number): RestoreDecision {
  const { cluster } = world;
  if (cluster === undefined || !mustBeSaved(world)) return toRestoring(world, now);
  if (!canBeSaved(cluster)) return toRestoring(world, now, {}, [["dataNotSaved", `${nobodyAnswers}${keptIn(world)}`]]);
  // It was tried before the backup was proved again, and nothing has changed since.
  if (world.restore.status.snapshotProblem !== undefined && !isAvailable(cluster)) return toRestoring(world, now);
  return toSaving;
}

const nobodyAnswers = "No member of the cluster answers, so what it held could not be saved before it is replaced.";

const toSaving = go("Saving", "What the cluster holds is saved before it is replaced.");

/** What a cluster that is replaced holds outside of volumes that stay. A path without a revision is of before a long wait. */
export function mustBeSaved({ restore: { spec, status }, volumes }: RestoreWorld): boolean {
  const isSaved = status.snapshotRevision !== undefined;
  return status.inPlace === true && !isSaved && spec.safetySnapshot === "Take" && !volumes.holdAll;
}

function keptIn({ restore: { status }, volumes: { kept } }: RestoreWorld): string {
  const { snapshotPath } = status;
  const earlier = snapshotPath === undefined ? "" : ` What it held earlier is saved in ${snapshotPath}.`;
  return kept.length === 0 ? earlier : `${earlier} The claims ${kept.join(", ")} are kept.`;
}

/**
 * Before the cluster is asked: a restore may have waited for long, and what members have may be something else by now. One
 * that serves is not stopped before its data is safe. Undefined: all is as it was recorded.
 */
export function lastCheck(world: RestoreWorld, now: number): RestoreDecision | undefined {
  const { restore, cluster, volumes } = world;
  if (restore.status.inPlace !== true || cluster === undefined) return undefined;
  if (isProofOld(restore.status, now)) return proveAgain();
  if (mustBeSaved(world) && isAvailable(cluster) && canBeSaved(cluster)) return toSaving;
  if ((restore.status.keptVolumes ?? "") === volumes.kept.join(", ")) return undefined;
  return toRestoring(world, now);
}

/** Milliseconds in which a backup that was proved is hardly pruned or replaced by others. */
export const proofLastsMs = 60_000;

/** For one that replaces a cluster: where one is made, nothing is lost by a backup that is gone. */
const isProofOld = ({ inPlace, checkedAt }: RestoreWorld["restore"]["status"], now: number): boolean =>
  inPlace === true && checkedAt !== undefined && now - Date.parse(checkedAt) > proofLastsMs;

const proveAgain = (more: { readonly record?: Recorded; readonly notes?: readonly Note[] } = {}): RestoreDecision =>
  go(
    "Checking",
    "The restore has waited since the backup was proved, and others may have pruned or replaced it: it is proved again.",
    more,
  );

/** The volumes that are kept are named as they are now. */
export function toRestoring(
  world: RestoreWorld,
  now: number,
  record: Recorded = {},
  notes: readonly Note[] = [],
): RestoreDecision {
  const { restore, volumes } = world;
  if (isProofOld(restore.status, now)) return proveAgain({ record, notes });
  const { inPlace, backup, phase } = restore.status;
  const { name } = restore.spec.etcdCluster;
  const from = `the backup ${backup?.path ?? ""} of revision ${backup?.revision ?? 0}`;
  const because =
    inPlace === true
      ? `The data of the EtcdCluster ${name} is replaced by ${from}.`
      : `The EtcdCluster ${name} is made from ${from}.`;
  const kept = volumes.kept.length === 0 ? {} : { keptVolumes: volumes.kept.join(", ") };
  const begun: readonly Note[] = phase === "Restoring" ? [] : [["restoreBegun", because]];
  return go("Restoring", because, { record: { ...record, ...kept }, notes: [...notes, ...begun] });
}

/** Any member can give a snapshot, with a quorum or without. */
function canBeSaved(cluster: CompleteEtcdCluster): boolean {
  return sourceOf(cluster) !== undefined && (isAvailable(cluster) || cluster.status.members.ready.length > 0);
}

export const isAvailable = ({ status }: CompleteEtcdCluster): boolean =>
  conditionOf(status.conditions, "Available")?.status === "True";
