// A run that is under way: its worker is made, watched, and made again where that helps. Workers never run side by side.
import { isSeries } from "../objects/jobs.ts";
import { workerName } from "../objects/names.ts";
import { podOf } from "../objects/worker-pods.ts";
import type { View, Worker } from "../observe/view.ts";
import type { Decision, Run } from "./actions.ts";
import { imageUnknown, obstacleIn } from "./begin.ts";
import { isEdited, ownStart, timeOf } from "./due.ts";
import { failedRun, notVerified, settle } from "./settle.ts";
import { lastingTrouble, problemIn, type Trouble } from "./trouble.ts";
import { isLost, lostAfterMs, remove, waitForOthers } from "./workers.ts";
import { mostAttempts } from "../../controllers/attempts.ts";
import { delays } from "../../controllers/delays.ts";

/** How long a worker may take to start before that is called a problem. Images are pulled, volumes attached meanwhile. */
export const startPatienceMs = { told: 15_000, silent: 60_000 } as const;

export function followRun(view: View, run: Run, now: number): Decision {
  const name = workerName(view.backup.metadata.name, run);
  const worker = view.workers.find((one) => one.name === name);
  if (worker === undefined || isLost(worker, now))
    return run.pod === undefined && worker === undefined
      ? makeWorker(view, run, now)
      : settle(view, run, lost(name, now, worker), now);
  const { state } = worker;
  if (state.t === "ended") {
    const { job, generation, createdAt } = worker;
    return settle(view, run, { result: state.result, job, generation, tookMs: now - createdAt }, now);
  }
  return state.t === "waiting" && worker.generation !== view.backup.metadata.generation && worker.goneBy === undefined
    ? exchange(view, run, worker, now)
    : watch(view, run, worker, now);
}

function lost(name: string, now: number, worker: Worker | undefined) {
  const message = `The worker pod ${name} was deleted, or its node was lost, before it had ended.`;
  const tookMs = worker === undefined ? 0 : now - worker.createdAt;
  return { result: { ok: false, code: "failed", message }, tookMs } as const;
}

function watch(view: View, run: Run, worker: Worker, now: number): Decision {
  const { backup } = view;
  const { notBefore: _, ...rest } = run;
  const stuck = worker.state.t === "ended" ? undefined : worker.state.stuck;
  const toldAt = stuck === undefined ? undefined : worker.createdAt + startPatienceMs[stuck.by];
  const next = ownStart(backup, now)?.at;
  const isStuck = stuck !== undefined && toldAt !== undefined && now >= toldAt;
  if (isStuck && worker.state.t === "waiting" && isSeries(backup) && next !== undefined && next <= now)
    return {
      ...giveUp(view, run, stuck.because, now),
      actions: [remove(worker, "it never started, and the next run is due")],
    };
  const waits = [
    ...(toldAt !== undefined && !isStuck ? [toldAt] : []),
    ...(isStuck && isSeries(backup) && next !== undefined ? [next] : []),
    ...(worker.goneBy === undefined ? [] : [worker.goneBy + lostAfterMs]),
  ];
  return {
    phase: phaseOf(run),
    message: isStuck ? stuck.because : progress(run, worker),
    trouble: isStuck ? { reason: "WorkerCannotStart", message: stuck.because } : lastingTrouble(backup),
    run: { ...rest, pod: worker.name },
    nextRun: next,
    ...(waits.length > 0 && { requeueAt: Math.min(...waits) }),
  };
}

const phaseOf = ({ step }: Run): Decision["phase"] => (step === "Verify" ? "Verifying" : "Running");

function progress({ step, attempt }: Run, { name }: Worker): string {
  const does = step === "Verify" ? "restores the backup into a throwaway member" : "takes the backup";
  const which = attempt > 1 ? `, attempt ${attempt} of ${mostAttempts}` : "";
  return `The worker ${name} ${does}${which}.`;
}

const giveUp = (view: View, run: Run, because: string, now: number): Decision =>
  run.step === "Verify" ? notVerified(view, run, because, now) : failedRun(view, run, because, now);

/** It waits for something that the spec may not ask for any more, such as a Secret with a wrong name. */
function exchange(view: View, run: Run, worker: Worker, now: number): Decision {
  const { pod: _, notBefore: __, ...rest } = run;
  return {
    phase: phaseOf(run),
    message: "The spec was edited before the worker had started: another one is made.",
    trouble: lastingTrouble(view.backup),
    run: { ...rest, attempt: run.attempt + 1 },
    nextRun: ownStart(view.backup, now)?.at,
    actions: [remove(worker, "the spec was edited before it had started")],
  };
}

function makeWorker(view: View, run: Run, now: number): Decision {
  const { backup, origin, problems, workerImage: image } = view;
  if (problems.length > 0) return giveUp(view, run, problems.join(" "), now);
  const base = { phase: phaseOf(run), run, nextRun: ownStart(backup, now)?.at };
  const at = isEdited(backup) ? undefined : timeOf(run.notBefore);
  if (at !== undefined && at > now) {
    const { message = "" } = backup.status;
    return { ...base, message, trouble: lastingTrouble(backup), requeueAt: at };
  }
  const first = waitForOthers(view, now);
  if (first !== undefined) return { ...base, ...first, trouble: lastingTrouble(backup) };
  const obstacle = run.step === "Backup" ? obstacleIn(view) : image === undefined ? imageUnknown : undefined;
  if (obstacle !== undefined || image === undefined) return { ...base, ...waitFor(obstacle ?? imageUnknown, now) };
  const pod = podOf({ backup, origin, image }, run);
  if (pod === undefined)
    return giveUp(view, run, "The spec names another place by now. The next backup is verified again.", now);
  const before = problemIn(backup);
  const isRefused = before?.reason === "Refused";
  return {
    ...base,
    message: isRefused ? before.message : `The worker ${pod.metadata?.name ?? ""} is made.`,
    trouble: isRefused ? before : lastingTrouble(backup),
    actions: [{ do: "createWorker", pod }],
    requeueAt: now + delays.untilCorrected,
  };
}

const waitFor = (trouble: Trouble, now: number): Pick<Decision, "message" | "trouble" | "requeueAt"> => ({
  message: trouble.message,
  trouble,
  ...(trouble.reason === "ImageUnknown" && { requeueAt: now + delays.ownImage }),
});
