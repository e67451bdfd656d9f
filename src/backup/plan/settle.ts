// What follows from how an attempt ended: facts about the backup, a verification, another attempt, or the end of the run.
import type { CompleteEtcdBackup, CompleteStatus } from "../../api/etcd-backup/etcd-backup.ts";
import { backoffDelay } from "../../kube/clock.ts";
import { bytesInWords } from "../../kube/objects/size.ts";
import type { BackupDone, Job, Result } from "../../worker/job.ts";
import { pathOf } from "../../worker/mounts.ts";
import { isSeries, placeIn, timeText } from "../objects/jobs.ts";
import { chanceOf } from "../objects/names.ts";
import type { BackupWorld } from "../observe/world.ts";
import type { BackupDecision, Ended, Run } from "./actions.ts";
import { ownStart, timeOf } from "./due.ts";
import { lastingTrouble, problemIn, type Trouble } from "./trouble.ts";
import { backoffs } from "../../controllers/delays.ts";
import { type Note, sentence } from "../../controllers/event.ts";
import { factsInStatus, isDefinite, mostAttempts } from "../../controllers/worker.ts";
import { atRest } from "./begin.ts";

const mostHistory = 10;

interface AttemptEnd {
  readonly result: Result;
  /** The job of the worker; undefined: the pod is gone. */
  readonly job?: Job | undefined;
  /** The generation of the EtcdBackup that the worker was made from. */
  readonly generation?: number;
  readonly tookMs: number;
}

export function settle(world: BackupWorld, run: Run, end: AttemptEnd, now: number): BackupDecision {
  const { result } = end;
  if (!result.ok) return failedAttempt(world, run, result, now, end.generation);
  switch (result.did.do) {
    case "backup":
      return backupTaken(world, run, result.did, end.job, now);
    case "verify":
      return verified(world, run, result.did, end.tookMs, now);
    case "check":
    case "restore":
    case "delete":
    case "awaitName":
      break;
  }
  const message = `The worker did another job than the one in its spec (${result.did.do}): check that its image is the operator's.`;
  return failedAttempt(world, run, { ok: false, code: "failed", message }, now);
}

function failedAttempt(
  world: BackupWorld,
  run: Run,
  { code, message }: Extract<Result, { ok: false }>,
  now: number,
  madeFrom?: number,
): BackupDecision {
  const { backup } = world;
  // What was edited meanwhile may well be what was wrong.
  const isEdited = madeFrom !== undefined && madeFrom !== backup.metadata.generation;
  const delay = isEdited ? 0 : backoffDelay(backoffs.backup, run.attempt, chanceOf(`${run.id} ${run.attempt}`));
  const at = now + delay;
  const next = isSeries(backup) ? ownStart(backup, now)?.at : undefined;
  const mayHelp = !isDefinite(code) || isEdited;
  const isTriedAgain = mayHelp && run.attempt < mostAttempts && (next === undefined || at < next);
  if (isTriedAgain) return anotherAttempt(world, run, message, at, now);
  return run.step === "Verify" ? notVerified(world, run, message, now) : failedRun(world, run, message, now);
}

function anotherAttempt({ backup }: BackupWorld, run: Run, message: string, at: number, now: number): BackupDecision {
  const { pod: _, ...rest } = run;
  const notBefore = timeText(Math.ceil(at / 1000) * 1000);
  return {
    phase: run.step === "Verify" ? "Verifying" : "Running",
    because: `${sentence(message)} Attempt ${run.attempt + 1} of ${mostAttempts} begins at ${notBefore}.`,
    // The backup itself is complete: only its verification is tried again.
    trouble: run.step === "Verify" ? lastingTrouble(backup) : { reason: "AttemptFailed", message },
    run: { ...rest, attempt: run.attempt + 1, notBefore },
    actions: [],
    nextRun: ownStart(backup, now)?.at,
    requeueAfter: (timeOf(notBefore) ?? at) - now,
    ...(run.step === "Backup" && { notes: [["backupRetried", sentence(message)] as const] }),
  };
}

export function failedRun(world: BackupWorld, run: Run, message: string, now: number): BackupDecision {
  const { status } = world.backup;
  return over(world, now, {
    facts: {
      succeeded: false,
      failures: (status.failures ?? 0) + 1,
      history: withEntry(status.history, { ...entryOf(run, now), result: "Failed", message }),
    },
    trouble: { reason: "BackupFailed", message },
    ended: [{ t: "run", result: "Failed" }],
    notes: [["backupFailed", sentence(message)]],
  });
}

function backupTaken(
  world: BackupWorld,
  run: Run,
  done: BackupDone,
  job: Job | undefined,
  now: number,
): BackupDecision {
  const { backup } = world;
  const { backup: facts, kept, held } = done;
  const place = placeIn(backup);
  // Where the worker was told to put it: the spec may have been edited since.
  const path = pathOf(job?.do === "backup" ? { ...place, target: job.store } : place, facts.key);
  const note = `The backup ${path} is complete: revision ${facts.revision} of etcd ${facts.etcdVersion}, ${bytesInWords(facts.bytes)}.`;
  const entry = { ...entryOf(run, now), result: "Succeeded" as const, path, sizeBytes: facts.bytes };
  const besides = [kept, held].filter((one) => one !== undefined).join(" ");
  const taken = {
    facts: {
      succeeded: true,
      etcdVersion: facts.etcdVersion,
      etcdRevision: facts.revision,
      lastSuccessDate: timeText(now),
      lastBackup: factsInStatus(facts, path),
      backups: done.count,
      failures: 0,
      history: withEntry(backup.status.history, { ...entry, ...(besides !== "" && { message: besides }) }),
    },
    trouble: held === undefined ? undefined : { reason: "PruningStopped", message: held },
    ended: [{ t: "run", result: "Succeeded" }],
    notes: [
      ["backupSucceeded", kept === undefined ? note : `${note} ${kept}`],
      ...(held === undefined ? [] : [["pruningStopped", held] as const]),
    ],
  } satisfies Ending;
  if (!backup.spec.verify.restore) return over(world, now, taken);
  const { id, trigger, startedAt } = run;
  return {
    ...taken,
    phase: "Verifying",
    because: "The backup is complete. A worker is about to verify it.",
    actions: [],
    run: { id, trigger, startedAt, attempt: 1, step: "Verify", path },
    nextRun: ownStart(backup, now)?.at,
  };
}

type VerifyDone = Extract<Extract<Result, { ok: true }>["did"], { do: "verify" }>;

function verified(world: BackupWorld, run: Run, done: VerifyDone, tookMs: number, now: number): BackupDecision {
  const { lastBackup } = world.backup.status;
  const { path = "" } = run;
  const compared = done.comparedHash ? "revision and hash are" : "the revision is";
  const message = `The backup ${path} was restored into a throwaway member, and ${compared} as they must be.`;
  return over(world, now, {
    facts: {
      lastVerified: {
        path,
        ...(lastBackup?.takenAt !== undefined && { takenAt: lastBackup.takenAt }),
        verifiedAt: timeText(now),
        durationSeconds: Math.round(tookMs / 1000),
        revision: done.revision,
        ...(done.hash !== undefined && { hash: done.hash }),
      },
    },
    verified: { status: "True", message },
    // That the backup is good does not say that it is of the right cluster.
    trouble: pruningTrouble(world.backup),
    ended: [{ t: "verification", result: "Succeeded" }],
    notes: [["backupVerified", message]],
  });
}

function pruningTrouble(backup: CompleteEtcdBackup): Trouble | undefined {
  const before = problemIn(backup);
  return before?.reason === "PruningStopped" ? before : undefined;
}

/** The backup stays: what is wrong may be the image, the node or the comparison. */
export function notVerified(world: BackupWorld, run: Run, because: string, now: number): BackupDecision {
  const message = `The backup ${run.path ?? ""} could not be verified: ${because}`;
  const history = world.backup.status.history.map((entry) => (entry.id === run.id ? { ...entry, message } : entry));
  return over(world, now, {
    facts: { history },
    verified: { status: "False", message },
    trouble: { reason: "VerificationFailed", message },
    ended: [{ t: "verification", result: "Failed" }],
    notes: [["verificationFailed", sentence(message)]],
  });
}

interface Ending extends Pick<BackupDecision, "verified"> {
  readonly facts: Partial<CompleteStatus>;
  readonly trouble: Trouble | undefined;
  readonly ended: readonly Ended[];
  readonly notes: readonly Note[];
}

/** The run is over, and all is as it is at rest with what is known now. */
function over({ backup }: BackupWorld, now: number, ending: Ending): BackupDecision {
  const succeeded = ending.facts.succeeded ?? backup.status.succeeded;
  const phase = succeeded ? "Succeeded" : "Failed";
  const { history = backup.status.history } = ending.facts;
  const settled: CompleteEtcdBackup = { ...backup, status: { ...backup.status, succeeded, phase, history } };
  return { ...atRest(settled, now), ...ending };
}

type Entry = CompleteStatus["history"][number];

function entryOf({ id, trigger, startedAt }: Run, now: number): Omit<Entry, "result"> {
  const began = timeOf(startedAt) ?? now;
  return { id, trigger, startedAt, durationSeconds: Math.max(0, Math.round((now - began) / 1000)) };
}

const withEntry = (history: readonly Entry[], entry: Entry): Entry[] => [entry, ...history].slice(0, mostHistory);
