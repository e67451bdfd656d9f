// An EtcdBackup that is being deleted. Its backups stay, unless its deletionPolicy says otherwise: then a worker deletes
// them first, and a finalizer keeps the object until that is done or the policy is changed.
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { type Backoff, backoffDelay } from "../../kube/clock.ts";
import type { Result } from "../../worker/job.ts";
import { timeText } from "../objects/jobs.ts";
import { chanceOf, runId, workerName } from "../objects/names.ts";
import { podOf } from "../objects/worker-pods.ts";
import type { View } from "../observe/view.ts";
import type { Action, Decision, News, Run } from "./actions.ts";
import { imageUnknown, lookForImageMs } from "./begin.ts";
import { timeOf } from "./due.ts";
import { problemIn, type Trouble } from "./trouble.ts";
import { isLost, waitForOthers } from "./workers.ts";

/** Keeps the object until its backups are deleted. */
export const deleteFinalizer = `${EtcdBackup.group}/delete-backups`;
/** Of etcd-operator 0.9, which is not there any more to take it away. */
const inheritedFinalizer = "backup-operator-periodic";

/** Undefined: they are as they should be. */
export function finalizersToSet({ backup }: View): Action | undefined {
  const { finalizers = [], deletionTimestamp } = backup.metadata;
  const isWanted = backup.spec.deletionPolicy === "Delete";
  if (deletionTimestamp !== undefined) {
    const kept = finalizers.filter((one) => one !== inheritedFinalizer && (isWanted || one !== deleteFinalizer));
    return kept.length < finalizers.length ? setTo(kept, "nothing of it is left to do") : undefined;
  }
  if (isWanted === finalizers.includes(deleteFinalizer)) return undefined;
  return isWanted
    ? setTo([...finalizers, deleteFinalizer], "spec.deletionPolicy is Delete")
    : setTo(without(finalizers), "spec.deletionPolicy is Retain");
}

const setTo = (finalizers: readonly string[], because: string): Action => ({
  do: "setFinalizers",
  finalizers,
  because,
});

const without = (finalizers: readonly string[]): readonly string[] =>
  finalizers.filter((one) => one !== deleteFinalizer);

const backoff: Backoff = { firstMs: 10_000, maxMs: 300_000, jitter: 0.2 };
const letGo = "To keep the backups and let this EtcdBackup go, set spec.deletionPolicy to Retain.";

type Deletion =
  | { readonly t: "delete"; readonly decision: Decision }
  /** Nothing is left to delete. */
  | { readonly t: "done"; readonly news: readonly News[] };

/** Of an object with the finalizer, whose policy is to delete. */
export function deleteBackups(view: View, now: number): Deletion {
  const { backup, problems } = view;
  const { run, history, lastBackup } = backup.status;
  if (run === undefined && history.length === 0 && lastBackup === undefined) return { t: "done", news: [] };
  if (problems.length > 0)
    return still(deleting(run, { reason: "DeletionFailed", message: `${problems.join(" ")} ${letGo}` }));
  if (run?.step === "Delete") return followDeletion(view, run, now);
  const first = waitForOthers(view, now);
  if (first !== undefined) return still({ ...deleting(run, undefined), ...first });
  const id = runId(backup.metadata.uid ?? "", "deletion");
  return still(deleting({ id, trigger: "Deletion", startedAt: timeText(now), attempt: 1, step: "Delete" }, undefined));
}

const still = (decision: Decision): Deletion => ({ t: "delete", decision });

const deleting = (run: Run | undefined, trouble: Trouble | undefined): Decision => ({
  phase: "Deleting",
  message: trouble?.message ?? "A worker deletes the backups, as spec.deletionPolicy says.",
  trouble,
  run,
  nextRun: undefined,
});

function followDeletion(view: View, run: Run, now: number): Deletion {
  const { backup, origin, workerImage: image } = view;
  const worker = view.workers.find(({ name }) => name === workerName(backup.metadata.name, run));
  const before = problemIn(backup);
  if (worker?.state.t === "ended") {
    const { result } = worker.state;
    return result.ok ? { t: "done", news: [deletedNews(result)] } : still(failed(run, result.message, now));
  }
  if (worker !== undefined && !isLost(worker, now)) {
    const { notBefore: _, ...rest } = run;
    return still(deleting({ ...rest, pod: worker.name }, before?.reason === "DeletionFailed" ? before : undefined));
  }
  if (worker !== undefined || run.pod !== undefined)
    return still(failed(run, "The worker pod was deleted, or its node was lost, before it had ended.", now));
  const at = timeOf(run.notBefore);
  if (at !== undefined && at > now) return still({ ...deleting(run, before), lookAgainAt: at });
  if (image === undefined) return still({ ...deleting(run, imageUnknown), lookAgainAt: now + lookForImageMs });
  const pod = podOf({ backup, origin, image }, run);
  return still({
    ...deleting(run, before),
    ...(pod !== undefined && { actions: [{ do: "createWorker", pod } as const] }),
    lookAgainAt: now + backoff.firstMs,
  });
}

function deletedNews({ did }: Extract<Result, { ok: true }>): News {
  const { deleted, locked } = did.do === "delete" ? did : { deleted: 0, locked: 0 };
  const note = `${deleted} backups were deleted, as spec.deletionPolicy says.`;
  return {
    event: "backupsDeleted",
    note:
      locked === 0 ? note : `${note} The store keeps ${locked} that are locked: delete them when it lets go of them.`,
  };
}

function failed(run: Run, because: string, now: number): Decision {
  const { pod: _, ...rest } = run;
  const at = now + backoffDelay(backoff, run.attempt, chanceOf(`${run.id} ${run.attempt}`));
  const notBefore = timeText(Math.ceil(at / 1000) * 1000);
  const message = `The backups could not be deleted: ${because} It is tried again. ${letGo}`;
  return {
    ...deleting({ ...rest, attempt: run.attempt + 1, notBefore }, { reason: "DeletionFailed", message }),
    lookAgainAt: timeOf(notBefore) ?? at,
  };
}

/** The last step: the object goes, and what it owns with it. */
export function release({ backup }: View): Action {
  return setTo(without(backup.metadata.finalizers ?? []), "its backups are deleted");
}
