// An EtcdBackup that is being deleted. Its backups stay, unless its deletionPolicy says otherwise: then a worker deletes
// them first, and a finalizer keeps the object until that is done, the policy is changed or nothing can be done
// (`way-out.ts`).
import { type CompleteEtcdBackup, EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { backoffDelay } from "../../kube/clock.ts";
import type { Result } from "../../worker/job.ts";
import { timeText } from "../objects/jobs.ts";
import { chanceOf, runId, workerName } from "../objects/names.ts";
import { podOf } from "../objects/worker-pods.ts";
import type { BackupWorld } from "../observe/world.ts";
import { lostResult, type Worker } from "../../controllers/worker.ts";
import type { BackupAction, BackupDecision, Run } from "./actions.ts";
import { imageUnknown } from "./begin.ts";
import { isEdited, timeOf } from "./due.ts";
import { startPatienceMs } from "./follow.ts";
import { problemIn, type Trouble } from "./trouble.ts";
import { givenUpAt, leftBehind, namespaceGoes, wayOut } from "./way-out.ts";
import { isLost, lostAfterMs, remove, waitForOthers } from "./workers.ts";
import { backoffs, delays } from "../../controllers/delays.ts";
import type { Note } from "../../controllers/event.ts";

/** Keeps the object until its backups are deleted. */
export const deleteFinalizer = `${EtcdBackup.group}/delete-backups`;
/** Left by etcd-operator 0.9, which is not there any more to take it away. */
const inheritedFinalizer = "backup-operator-periodic";

/** Undefined: they are as they should be. */
export function finalizersToSet({ backup }: BackupWorld): BackupAction | undefined {
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

const setTo = (finalizers: readonly string[], because: string): BackupAction => ({
  do: "setFinalizers",
  finalizers,
  because,
});

const without = (finalizers: readonly string[]): readonly string[] =>
  finalizers.filter((one) => one !== deleteFinalizer);

type Deletion =
  | { readonly t: "goesOn"; readonly decision: BackupDecision }
  /** No worker is at it: until somebody corrects what the trouble says, none can be. */
  | { readonly t: "heldUp"; readonly decision: BackupDecision; readonly trouble: Trouble }
  | { readonly t: "over"; readonly notes: readonly Note[]; readonly because: string };

/** For an object with the finalizer, whose policy is to delete. */
export function deleteBackups(world: BackupWorld, now: number): Deletion {
  const { backup } = world;
  if (!mayHaveBackups(world)) return over([], "it has no backups");
  if (world.namespace === "terminating") return leave(world, namespaceGoes(backup));
  const next = nextStep(world, now);
  if (next.t !== "heldUp") return next;
  const end = givenUpAt(backup);
  if (now >= end) return leave(world, next.trouble.message.replace(` ${wayOut(backup)}`, ""));
  const { requeueAfter = delays.deletionHeldUp } = next.decision;
  return { ...next, decision: { ...next.decision, requeueAfter: Math.min(requeueAfter, end - now) } };
}

/** Whether there is anything to delete, as far as the status tells. */
function mayHaveBackups({ backup }: Pick<BackupWorld, "backup">): boolean {
  const { run, history, lastBackup } = backup.status;
  return run !== undefined || history.length > 0 || lastBackup !== undefined;
}

function nextStep(world: BackupWorld, now: number): Deletion {
  const { backup, problems } = world;
  const { run } = backup.status;
  if (problems.length > 0) return heldUp(backup, run, { reason: "DeletionFailed", message: problems.join(" ") });
  if (run?.step === "Delete") return followDeletion(world, run, now);
  const first = waitForOthers(world, now);
  if (first !== undefined) return goesOn({ ...deleting(run, undefined), ...first });
  const id = runId(backup.metadata.uid ?? "", "deletion");
  return goesOn(deleting({ id, trigger: "Deletion", startedAt: timeText(now), attempt: 1, step: "Delete" }, undefined));
}

const goesOn = (decision: BackupDecision): Deletion => ({ t: "goesOn", decision });
const over = (notes: readonly Note[], because: string): Deletion => ({ t: "over", notes, because });

function heldUp(
  backup: CompleteEtcdBackup,
  run: Run | undefined,
  { reason, message: what }: Trouble,
  also: Partial<Pick<BackupDecision, "actions" | "requeueAfter">> = {},
): Deletion {
  const out = wayOut(backup);
  const trouble = { reason, message: what.endsWith(out) ? what : `${what} ${out}` };
  return { t: "heldUp", trouble, decision: { ...deleting(run, trouble), ...also } };
}

function leave({ backup }: BackupWorld, because: string): Deletion {
  const note = leftBehind(backup, because);
  return over([note], note[1]);
}

const deleting = (run: Run | undefined, trouble: Trouble | undefined): BackupDecision => ({
  phase: "Deleting",
  because: trouble?.message ?? "A worker deletes the backups, as spec.deletionPolicy says.",
  trouble,
  run,
  nextRun: undefined,
  actions: [],
});

function followDeletion(world: BackupWorld, run: Run, now: number): Deletion {
  const { backup } = world;
  const name = workerName(backup.metadata.name, run);
  const worker = world.workers.find((one) => one.name === name);
  if (worker === undefined && run.pod === undefined) return makeWorker(world, run, now);
  if (worker === undefined || isLost(worker, now)) return failed(backup, run, lostResult(name).message, now);
  if (worker.state.t !== "ended") return watch(backup, run, worker, now);
  const { result } = worker.state;
  return result.ok ? over([deletedNote(result)], "its backups are deleted") : failed(backup, run, result.message, now);
}

function watch(backup: CompleteEtcdBackup, run: Run, worker: Worker, now: number): Deletion {
  const { notBefore: _, pod: __, ...rest } = run;
  const { state, goneBy } = worker;
  if (goneBy === undefined && state.t === "waiting") {
    // It may wait for something that the spec no longer asks for, such as a Secret with a wrong name.
    if (worker.generation !== backup.metadata.generation)
      return goesOn({
        ...deleting({ ...rest, attempt: run.attempt + 1 }, undefined),
        actions: [remove(worker, "the spec was edited before it had started")],
      });
    const toldAt = worker.createdAt + startPatienceMs[state.stuck.by];
    const followed = { ...rest, pod: worker.name };
    const { because: message } = state.stuck;
    if (now >= toldAt) return heldUp(backup, followed, { reason: "WorkerCannotStart", message });
    return goesOn({ ...deleting(followed, problemIn(backup)), requeueAfter: toldAt - now });
  }
  const before = problemIn(backup);
  return goesOn({
    ...deleting({ ...rest, pod: worker.name }, before?.reason === "DeletionFailed" ? before : undefined),
    ...(goneBy !== undefined && { requeueAfter: goneBy + lostAfterMs - now }),
  });
}

function makeWorker(world: BackupWorld, run: Run, now: number): Deletion {
  const { backup, origin, workerImage: image } = world;
  const before = problemIn(backup);
  const at = isEdited(backup) ? undefined : timeOf(run.notBefore);
  if (at !== undefined && at > now) return waits(backup, run, before, { requeueAfter: at - now });
  const first = waitForOthers(world, now);
  if (first !== undefined) return goesOn({ ...deleting(run, before), ...first });
  if (image === undefined) return heldUp(backup, run, imageUnknown, { requeueAfter: delays.ownImage });
  const pod = podOf({ backup, origin, image }, run);
  return waits(backup, run, before, {
    ...(pod !== undefined && { actions: [{ do: "createWorker", pod } as const] }),
    requeueAfter: backoffs.backup.firstMs,
  });
}

/** With what went wrong before, if anything did: then it is held up for as long as this is all that happens. */
const waits = (
  backup: CompleteEtcdBackup,
  run: Run,
  before: Trouble | undefined,
  also: Partial<Pick<BackupDecision, "actions" | "requeueAfter">>,
): Deletion =>
  before === undefined ? goesOn({ ...deleting(run, undefined), ...also }) : heldUp(backup, run, before, also);

function deletedNote({ did }: Extract<Result, { ok: true }>): Note {
  const { deleted, locked } = did.do === "delete" ? did : { deleted: 0, locked: 0 };
  const note = `${deleted} backups were deleted, as spec.deletionPolicy says.`;
  const kept = `The store keeps ${locked} that are locked: delete them when it lets go of them.`;
  return ["backupsDeleted", locked === 0 ? note : `${note} ${kept}`];
}

function failed(backup: CompleteEtcdBackup, run: Run, because: string, now: number): Deletion {
  const { pod: _, ...rest } = run;
  const at = now + backoffDelay(backoffs.backup, run.attempt, chanceOf(`${run.id} ${run.attempt}`));
  const notBefore = timeText(Math.ceil(at / 1000) * 1000);
  const trouble = { reason: "DeletionFailed", message: `The backups could not be deleted: ${because}` } as const;
  const next = { ...rest, attempt: run.attempt + 1, notBefore };
  return heldUp(backup, next, trouble, { requeueAfter: (timeOf(notBefore) ?? at) - now });
}

/** The last step: the object goes, and what it owns with it. */
export function release({ backup }: BackupWorld, because: string): BackupAction {
  return setTo(without(backup.metadata.finalizers ?? []), because);
}
