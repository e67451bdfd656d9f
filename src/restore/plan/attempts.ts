// How a worker is waited for: it is made, reported, tried again after what may pass, and given up after five attempts.
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { mostAttempts } from "../../controllers/attempts.ts";
import { backoffs } from "../../controllers/delays.ts";
import { backoffDelay } from "../../kube/clock.ts";
import type { Job, Result } from "../../worker/job.ts";
import type { Mount } from "../../worker/mounts.ts";
import { backupOf, type RestoreWorld } from "../observe/world.ts";
import { workerPolicyOf } from "../objects/backup-place.ts";
import { workerName } from "../objects/worker-pods.ts";
import { pace, type RestoreDecision, retry, stay, stayWaiting } from "./actions.ts";
import { heldUp } from "./gates.ts";

export const otherJob = "The worker did another job than the one in its spec: its image may be of another release.";

export interface Task {
  readonly job: Job;
  readonly mounts: readonly Mount[];
}

/** One step that a worker carries out. */
export interface Step {
  /** A decision: there is nothing that a worker could do. */
  readonly task: () => Task | RestoreDecision;
  readonly ended: (result: Result) => RestoreDecision;
  readonly lost: (because: string) => RestoreDecision;
  /** As in "reads the backup". */
  readonly does: string;
}

export function byWorker(world: RestoreWorld, now: number, { task, ended, lost, does }: Step): RestoreDecision {
  const { restore, worker } = world;
  if (worker.t === "ended") return ended(worker.result);
  if (worker.t === "lost") return lost(worker.because);
  if (worker.t === "running")
    return stay(worker.trouble ?? `The pod ${worker.pod} ${does}.`, {
      record: { pod: worker.pod },
      requeueAfter: pace.slowly,
    });
  if (worker.t === "foreign")
    return stayWaiting(
      `There is a pod ${worker.pod} that is not this EtcdRestore's: delete it, so that the worker can be made.`,
    );
  const wanted = task();
  if ("t" in wanted) return wanted;
  return heldUp(world) ?? backsOff(restore, now) ?? makeWorker(world, wanted, does);
}

/** Undefined: it is time for another worker. */
function backsOff({ status: { notBefore, message } }: CompleteEtcdRestore, now: number): RestoreDecision | undefined {
  const at = Date.parse(notBefore ?? "");
  return at > now ? stay(message ?? "It is tried again.", { requeueAfter: at - now }) : undefined;
}

function makeWorker(world: RestoreWorld, task: Task, does: string): RestoreDecision {
  const { restore, image } = world;
  const podName = workerName(restore);
  if (image === undefined || podName === undefined)
    return stayWaiting("The operator does not know its own image, which workers run: start it with -worker-image.");
  const policy = workerPolicyOf(restore, backupOf(world));
  return stay(`The pod ${podName} ${does}.`, {
    actions: [{ do: "createWorker", work: { podName, image, policy, ...task } }],
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
