// Checking: a worker reads the backup and proves that it can be restored. Nothing is touched, and what is definitely wrong
// ends the restore here.
import { type CompleteEtcdCluster, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { delays } from "../../controllers/delays.ts";
import { secondsTime } from "../../kube/objects/objects.ts";
import type { BackupFacts } from "../../worker/job.ts";
import { pathOf } from "../../worker/mounts.ts";
import type { WorkerTask } from "../../worker/pod.ts";
import { backupOf, type RestoreWorld } from "../observe/world.ts";
import { backupPlace, readOnly, stalledAfterSeconds } from "../objects/backup-place.ts";
import { bumpPast, tooSmallBump } from "../objects/seed.ts";
import { byWorker, otherJob, tryAgain } from "./attempts.ts";
import { fail, type RestoreDecision, stay } from "./actions.ts";
import { heldUp, repeated, withoutBackup } from "./gates.ts";
import { afterCheck } from "./next-step.ts";
import { factsInStatus, isDefinite, mostAttempts } from "../../controllers/worker.ts";

const untouched = "Nothing was touched.";

export function checking(world: RestoreWorld, now: number): RestoreDecision {
  const { restore } = world;
  if (restore.status.key !== undefined) return heldUp(world) ?? repeated(world) ?? afterCheck(world, now);
  return withoutBackup(world) ?? prove(world, now);
}

function prove(world: RestoreWorld, now: number): RestoreDecision {
  return byWorker(world, now, {
    does: "reads the backup and proves that it can be restored",
    task: () => taskOf(world),
    ended(result) {
      if (result.ok) return result.did.do === "check" ? proved(world, result.did.backup, now) : again(world, otherJob);
      return isDefinite(result.code) ? fail(`${result.message} ${untouched}`) : again(world, result.message);
    },
  });
}

function again({ restore }: RestoreWorld, because: string): RestoreDecision {
  return (
    tryAgain(restore, because) ??
    fail(`${because} It was tried ${mostAttempts} times. ${untouched} Fix that, then apply it again.`)
  );
}

function proved(world: RestoreWorld, facts: BackupFacts, now: number): RestoreDecision {
  const { restore, cluster } = world;
  const path = pathOf(backupPlace(restore, backupOf(world)).place, facts.key);
  const { highestRevision = 0, revision = 0 } = cluster?.status ?? {};
  const highest = Math.max(highestRevision, revision);
  const refusal = tooSmallBump(restore, facts.revision, highest);
  if (refusal !== undefined) return fail(`${refusal} ${untouched}`);
  return stay(`The backup ${path} is whole: it holds everything up to revision ${facts.revision}.`, {
    record: {
      checkedAt: secondsTime(new Date(now)),
      key: facts.key,
      ...(facts.keys !== undefined && { keys: facts.keys }),
      backup: factsInStatus(facts, path),
      revisionBump: bumpPast(restore, facts.revision, highest),
    },
    requeueAfter: delays.atOnce,
  });
}

function taskOf(world: RestoreWorld): WorkerTask {
  const { restore } = world;
  const { place, sealed, choice } = backupPlace(restore, backupOf(world));
  const { version, etcd } = restoredCluster(world).spec;
  return {
    job: {
      do: "check",
      store: place.target,
      choice,
      ...(sealed.encryption && { encryption: sealed.encryption }),
      targetVersion: version,
      ...(etcd.quotaBackendBytes !== undefined && { expectedBytes: etcd.quotaBackendBytes }),
      stalledAfterSeconds: stalledAfterSeconds(restore),
    },
    mounts: readOnly([...place.mounts, ...sealed.mounts]),
  };
}

/** The cluster that is to serve the backup: as it is, or as it will be made. */
function restoredCluster({ restore, cluster, clusterSpec }: RestoreWorld): CompleteEtcdCluster {
  const { namespace } = restore.metadata;
  const { name } = restore.spec.etcdCluster;
  return cluster ?? withDefaults({ metadata: { namespace, name }, spec: clusterSpec ?? { size: 0 } });
}
