// Saving: a worker saves what a cluster without volumes holds, beside the backup, before it is replaced. A cluster of which
// nothing can be had any more is replaced all the same; one that serves never is before its data is safe.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { isDefinite } from "../../controllers/attempts.ts";
import type { BackupFacts, BackupJob, FailureCode } from "../../worker/job.ts";
import { pathOf } from "../../worker/mounts.ts";
import { sourceOf } from "../../worker/source.ts";
import { backupOf, type RestoreWorld } from "../observe/world.ts";
import { backupPlace, stalledAfterSeconds } from "../objects/backup-place.ts";
import { shortUid } from "../objects/worker-pods.ts";
import { byWorker, otherThanTold, type Task, tryAgain } from "./attempts.ts";
import { type RestoreDecision, fail } from "./actions.ts";
import { withoutBackup } from "./gates.ts";
import { isAvailable, toRestoring } from "./next-step.ts";

const advice =
  "The cluster was not touched. Mend it and apply another EtcdRestore; with spec.safetySnapshot: Skip it goes on without saving.";

export function saving(world: RestoreWorld, now: number): RestoreDecision {
  return withoutBackup(world) ?? save(world, now);
}

function save(world: RestoreWorld, now: number): RestoreDecision {
  return byWorker(world, now, {
    does: "saves what the cluster holds",
    task: () => taskOf(world) ?? goOn(world, now, "No member of the cluster is known to have served."),
    lost: (because) => again(world, now, because, "failed"),
    ended(result) {
      if (result.ok)
        return result.did.do === "backup"
          ? saved(world, now, result.did.backup)
          : again(world, now, otherThanTold, "failed");
      return isDefinite(result.code) ? notSaved(result.message) : again(world, now, result.message, result.code);
    },
  });
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

function taskOf(world: RestoreWorld): Task | undefined {
  const { restore, cluster } = world;
  const reached = cluster && sourceOf(cluster);
  if (cluster === undefined || reached === undefined) return undefined;
  const { name, namespace, uid = "" } = restore.metadata;
  const { place, sealed } = backupPlace(restore, backupOf(world));
  const job: BackupJob = {
    do: "backup",
    owner: { namespace, name },
    run: `restore-${uid}`,
    source: reached.source,
    store: place.target,
    key: { t: "once", path: `${restore.status.key ?? place.path}.before-${name}-${shortUid(uid)}` },
    startedAt: restore.status.startedAt ?? "",
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
