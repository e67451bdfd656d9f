// Saving: a worker saves what a cluster without volumes holds, beside the backup, before it is replaced. A cluster of which
// nothing can be had any more is replaced all the same; one that serves never is before its data is safe.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { BackupFacts, BackupJob, FailureCode } from "../../worker/job.ts";
import { pathOf } from "../../worker/mounts.ts";
import type { WorkerTask } from "../../worker/pod.ts";
import { sourceOf } from "../../worker/source.ts";
import { backupOf, type RestoreWorld } from "../observe/world.ts";
import { backupPlace, stalledAfterSeconds, workerPolicyOf } from "../objects/backup-place.ts";
import { firstSaveName, restoreWorker, shortUid } from "../objects/worker-pods.ts";
import { byWorker, otherJob, tryAgain } from "./attempts.ts";
import { fail, type RestoreAction, type RestoreDecision, retry } from "./actions.ts";
import { heldUp, repeated, withoutBackup } from "./gates.ts";
import { isAvailable, mustBeSaved, proofLastsMs, toRestoring } from "./next-step.ts";
import { delays } from "../../controllers/delays.ts";
import { isDefinite } from "../../controllers/worker.ts";

const advice =
  "The cluster was not touched. Repair it and apply another EtcdRestore, or set spec.safetySnapshot: Skip there to continue without saving.";

export function saving(world: RestoreWorld, now: number): RestoreDecision {
  return withoutBackup(world) ?? save(world, now);
}

/**
 * While the backup is being checked, what the cluster holds is saved already, in a pod of its own. It holds up nothing: where
 * it cannot be made it is made after the check. A restore that waits for a person must not save what will be old by then.
 */
export function saveEarly(world: RestoreWorld): readonly RestoreAction[] {
  const { restore, cluster, image, savingEarly } = world;
  if (restore.status.phase !== "Checking") return [];
  if (heldUp(world) !== undefined || repeated(world) !== undefined)
    return savingEarly === undefined ? [] : [{ do: "deleteWorker", ...savingEarly, because: "the restore waits" }];
  const isProved = restore.status.checkedAt !== undefined || restore.status.attempt > 1;
  if (savingEarly !== undefined || image === undefined || cluster === undefined || isProved) return [];
  if (withoutBackup(world) !== undefined || !mustBeSaved(world) || !isAvailable(cluster)) return [];
  const task = taskOf(world);
  // A volume of backups may be mounted on one node at a time.
  if (task === undefined || task.mounts.some((mount) => "claim" in mount)) return [];
  const policy = workerPolicyOf(restore, backupOf(world));
  const pod = restoreWorker(restore, { podName: firstSaveName(restore), image, policy, task });
  return [{ do: "createWorker", pod }];
}

function save(world: RestoreWorld, now: number): RestoreDecision {
  return byWorker(world, now, {
    does: "saves what the cluster holds",
    task: () => taskOf(world) ?? goOn(world, now, "No member of the cluster is known to have served."),
    ended(result) {
      if (result.ok)
        return result.did.do === "backup"
          ? (tooEarly(world, result.did.backup) ?? saved(world, now, result.did.backup))
          : again(world, now, otherJob, "failed");
      return isDefinite(result.code) ? notSaved(result.message) : again(world, now, result.message, result.code);
    },
  });
}

/** One that was taken long before the backup was proved lacks what was written since. */
function tooEarly(
  { restore: { status } }: RestoreWorld,
  { snapshotAt = "" }: BackupFacts,
): RestoreDecision | undefined {
  const ms = Date.parse(status.checkedAt ?? "") - Date.parse(snapshotAt);
  if (!(ms > proofLastsMs)) return undefined;
  const because = `The check took ${Math.round(ms / 1000)} s longer than it took to save what the cluster holds: it is saved again.`;
  return retry(because, delays.atOnce);
}

function saved(world: RestoreWorld, now: number, { key, revision }: BackupFacts): RestoreDecision {
  const path = pathOf(backupPlace(world.restore, backupOf(world)).place, key);
  return toRestoring(world, now, { snapshotPath: path, snapshotRevision: revision }, [
    ["dataSaved", `What the cluster held was saved in ${path} before it is replaced.`],
  ]);
}

/** That etcd does not answer a worker means that nothing can be had only where nobody else finds that it serves. */
function again(world: RestoreWorld, now: number, because: string, code: FailureCode): RestoreDecision {
  const { restore, cluster } = world;
  const retry = tryAgain(restore, because);
  if (retry !== undefined) return retry;
  const silent = (code === "etcd" || code === "stalled") && !(cluster !== undefined && isAvailable(cluster));
  return silent ? goOn(world, now, because) : notSaved(because);
}

const notSaved = (because: string): RestoreDecision =>
  fail(`What the cluster holds could not be saved: ${because} ${advice}`);

const goOn = (world: RestoreWorld, now: number, because: string): RestoreDecision =>
  toRestoring(world, now, { snapshotProblem: because }, [
    ["dataNotSaved", `What the cluster held could not be saved before it is replaced: ${because}`],
  ]);

function taskOf(world: RestoreWorld): WorkerTask | undefined {
  const { restore, cluster } = world;
  const reached = cluster && sourceOf(cluster);
  if (cluster === undefined || reached === undefined) return undefined;
  const { name, namespace, uid = "" } = restore.metadata;
  const { checkedAt, startedAt = "" } = restore.status;
  const { place, sealed } = backupPlace(restore, backupOf(world));
  const job: BackupJob = {
    do: "backup",
    owner: { namespace, name },
    // A worker gives back what another of the same run has saved. What was saved before the check ended may be too old.
    run: checkedAt === undefined ? `restore-${uid}` : `restore-${uid}-${checkedAt}`,
    source: reached.source,
    store: place.target,
    key: { t: "once", path: `${place.path}.before-${name}-${shortUid(uid)}` },
    startedAt: checkedAt ?? startedAt,
    ...(sealed.encryption && { encryption: sealed.encryption }),
    cluster: clusterIn(cluster),
    stalledAfterSeconds: stalledAfterSeconds(restore),
  };
  return { job, mounts: [...place.mounts, ...sealed.mounts, ...reached.mounts] };
}

function clusterIn({
  metadata: { namespace, name, uid = "" },
}: CompleteEtcdCluster): NonNullable<BackupJob["cluster"]> {
  return { namespace, name, uid };
}
