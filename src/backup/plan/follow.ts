// A run that is under way: its worker is made, watched, and made again where that helps. Workers never run side by side.
import { isSeries } from "../objects/jobs.ts";
import { workerName } from "../objects/names.ts";
import { podOf } from "../objects/worker-pods.ts";
import type { BackupWorld } from "../observe/world.ts";
import { lostResult, mostAttempts, type Worker } from "../../controllers/worker.ts";
import type { BackupDecision, Run } from "./actions.ts";
import { imageUnknown, obstacleIn } from "./begin.ts";
import { isEdited, ownStart, timeOf } from "./due.ts";
import { failedRun, notVerified, settle } from "./settle.ts";
import { lastingTrouble, problemIn, type Trouble } from "./trouble.ts";
import { isLost, lostAfterMs, remove, waitForOthers } from "./workers.ts";
import { delays } from "../../controllers/delays.ts";

/** How long a worker may take to start before that is called a problem. Images are pulled, volumes attached meanwhile. */
export const startPatienceMs = { reported: 15_000, silent: 60_000 } as const;

export function followRun(world: BackupWorld, run: Run, now: number): BackupDecision {
  const name = workerName(world.backup.metadata.name, run);
  const worker = world.workers.find((one) => one.name === name);
  if (worker === undefined || isLost(worker, now))
    return run.pod === undefined && worker === undefined
      ? makeWorker(world, run, now)
      : settle(world, run, lost(name, now, worker), now);
  const { state } = worker;
  if (state.t === "ended") {
    const { job, generation, createdAt } = worker;
    return settle(world, run, { result: state.result, job, generation, tookMs: now - createdAt }, now);
  }
  return state.t === "waiting" && worker.generation !== world.backup.metadata.generation && worker.goneBy === undefined
    ? replaceWorker(world, run, worker, now)
    : watch(world, run, worker, now);
}

function lost(name: string, now: number, worker: Worker | undefined) {
  const tookMs = worker === undefined ? 0 : now - worker.createdAt;
  return { result: lostResult(name), tookMs };
}

function watch(world: BackupWorld, run: Run, worker: Worker, now: number): BackupDecision {
  const { backup } = world;
  const { notBefore: _, ...rest } = run;
  const stuck = worker.state.t === "ended" ? undefined : worker.state.stuck;
  const toldAt = stuck === undefined ? undefined : worker.createdAt + startPatienceMs[stuck.by];
  const next = ownStart(backup, now)?.at;
  const isStuck = stuck !== undefined && toldAt !== undefined && now >= toldAt;
  if (isStuck && worker.state.t === "waiting" && isSeries(backup) && next !== undefined && next <= now)
    return {
      ...giveUp(world, run, stuck.because, now),
      actions: [remove(worker, "it never started, and the next run is due")],
    };
  const waits = [
    ...(toldAt !== undefined && !isStuck ? [toldAt] : []),
    ...(isStuck && isSeries(backup) && next !== undefined ? [next] : []),
    ...(worker.goneBy === undefined ? [] : [worker.goneBy + lostAfterMs]),
  ];
  return {
    phase: phaseOf(run),
    because: isStuck ? stuck.because : progress(run, worker),
    actions: [],
    trouble: isStuck ? { reason: "WorkerCannotStart", message: stuck.because } : lastingTrouble(backup),
    run: { ...rest, pod: worker.name },
    nextRun: next,
    ...(waits.length > 0 && { requeueAfter: Math.min(...waits) - now }),
  };
}

const phaseOf = ({ step }: Run): BackupDecision["phase"] => (step === "Verify" ? "Verifying" : "Running");

function progress({ step, attempt }: Run, { name }: Worker): string {
  const does = step === "Verify" ? "restores the backup into a throwaway member" : "takes the backup";
  const which = attempt > 1 ? `, attempt ${attempt} of ${mostAttempts}` : "";
  return `The worker ${name} ${does}${which}.`;
}

const giveUp = (world: BackupWorld, run: Run, because: string, now: number): BackupDecision =>
  run.step === "Verify" ? notVerified(world, run, because, now) : failedRun(world, run, because, now);

/** It waits for something that the spec may not ask for any more, such as a Secret with a wrong name. */
function replaceWorker(world: BackupWorld, run: Run, worker: Worker, now: number): BackupDecision {
  const { pod: _, notBefore: __, ...rest } = run;
  return {
    phase: phaseOf(run),
    because: "The spec was edited before the worker had started: another one is created.",
    trouble: lastingTrouble(world.backup),
    run: { ...rest, attempt: run.attempt + 1 },
    nextRun: ownStart(world.backup, now)?.at,
    actions: [remove(worker, "the spec was edited before it had started")],
  };
}

function makeWorker(world: BackupWorld, run: Run, now: number): BackupDecision {
  const { backup, origin, problems, workerImage: image } = world;
  if (problems.length > 0) return giveUp(world, run, problems.join(" "), now);
  const base = { phase: phaseOf(run), run, nextRun: ownStart(backup, now)?.at, actions: [] };
  const at = isEdited(backup) ? undefined : timeOf(run.notBefore);
  if (at !== undefined && at > now) {
    const { message: because = "" } = backup.status;
    return { ...base, because, trouble: lastingTrouble(backup), requeueAfter: at - now };
  }
  const first = waitForOthers(world, now);
  if (first !== undefined) return { ...base, ...first, trouble: lastingTrouble(backup) };
  const obstacle = run.step === "Backup" ? obstacleIn(world) : image === undefined ? imageUnknown : undefined;
  if (obstacle !== undefined || image === undefined) return { ...base, ...waitFor(obstacle ?? imageUnknown) };
  const pod = podOf({ backup, origin, image }, run);
  if (pod === undefined)
    return giveUp(world, run, "The spec names another place now. The next backup is verified again.", now);
  const before = problemIn(backup);
  const isRefused = before?.reason === "Refused";
  return {
    ...base,
    because: isRefused ? before.message : `The worker ${pod.metadata?.name ?? ""} is created.`,
    trouble: isRefused ? before : lastingTrouble(backup),
    actions: [{ do: "createWorker", pod }],
    requeueAfter: delays.untilCorrected,
  };
}

const waitFor = (trouble: Trouble): Pick<BackupDecision, "because" | "trouble" | "requeueAfter"> => ({
  because: trouble.message,
  trouble,
  ...(trouble.reason === "ImageUnknown" && { requeueAfter: delays.ownImage }),
});
