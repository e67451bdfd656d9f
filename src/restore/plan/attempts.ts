// How a worker is waited for: it is made, reported, tried again after what may pass, and given up after five attempts.
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { backoffs, delays } from "../../controllers/delays.ts";
import { backoffDelay } from "../../kube/clock.ts";
import { lostResult, mostAttempts, type Worker } from "../../controllers/worker.ts";
import type { Result } from "../../worker/job.ts";
import type { WorkerTask } from "../../worker/pod.ts";
import { backupOf, type RestoreWorld } from "../observe/world.ts";
import { workerPolicyOf } from "../objects/backup-place.ts";
import { restoreWorker, workerName } from "../objects/worker-pods.ts";
import { type RestoreDecision, retry, stay, stayWaiting } from "./actions.ts";
import { heldUp } from "./gates.ts";

export const otherJob = "The worker did another job than the one in its spec: its image may be of another release.";

interface PhaseOfWorker {
  /** A decision: there is nothing that a worker could do. */
  readonly task: () => WorkerTask | RestoreDecision;
  readonly ended: (result: Result) => RestoreDecision;
  /** As in "reads the backup". */
  readonly does: string;
}

export function byWorker(world: RestoreWorld, now: number, { task, ended, does }: PhaseOfWorker): RestoreDecision {
  const { restore, worker } = world;
  const name = workerName(restore) ?? "";
  if (worker === "foreign")
    return stayWaiting(
      `There is a pod ${name} that is not this EtcdRestore's: delete it, so that the worker can be made.`,
    );
  if (worker?.state.t === "ended") return ended(worker.state.result);
  // On a node that is lost it may stay as it is for ever.
  if (worker?.goneBy !== undefined || (worker === undefined && restore.status.pod === name))
    return ended(lostResult(name));
  if (worker !== undefined)
    return stay(troubleOf(worker, now) ?? `The pod ${name} ${does}.`, {
      record: { pod: name },
      requeueAfter: delays.untilCorrected,
    });
  const wanted = task();
  if ("t" in wanted) return wanted;
  return heldUp(world) ?? backsOff(restore, now) ?? makeWorker(world, wanted, does);
}

/** How long a worker may take to start before it is worth a word: it gets its volumes meanwhile. */
const patienceMs = 30_000;

/** Undefined: nothing is known to be wrong. */
function troubleOf({ createdAt, state }: Worker, now: number): string | undefined {
  const stuck = state.t === "ended" ? undefined : state.stuck;
  return stuck?.by === "reported" || now - createdAt > patienceMs ? stuck?.because : undefined;
}

/** Undefined: it is time for another worker. */
function backsOff({ status: { notBefore, message } }: CompleteEtcdRestore, now: number): RestoreDecision | undefined {
  const at = Date.parse(notBefore ?? "");
  return at > now ? stay(message ?? "It is tried again.", { requeueAfter: at - now }) : undefined;
}

function makeWorker(world: RestoreWorld, task: WorkerTask, does: string): RestoreDecision {
  const { restore, image } = world;
  const podName = workerName(restore);
  if (image === undefined || podName === undefined)
    return stayWaiting("The operator does not know its own image, which workers run: start it with -worker-image.");
  const policy = workerPolicyOf(restore, backupOf(world));
  return stay(`The pod ${podName} ${does}.`, {
    actions: [{ do: "createWorker", pod: restoreWorker(restore, { podName, image, policy, task }) }],
  });
}

/** Undefined after the last one. */
export function tryAgain({ status: { attempt } }: CompleteEtcdRestore, because: string): RestoreDecision | undefined {
  if (attempt >= mostAttempts) return undefined;
  const requeueAfter = backoffDelay(backoffs.restore, attempt, 0);
  return retry(
    `${because} Attempt ${attempt + 1} of ${mostAttempts} follows in ${requeueAfter / 1000} s.`,
    requeueAfter,
  );
}
