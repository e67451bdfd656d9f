// Begins a run when one is due. Its name is written down before anything is made, so there is never a second one of it.
import { timeText } from "../objects/jobs.ts";
import { runId } from "../objects/names.ts";
import type { BackupWorld } from "../observe/world.ts";
import type { BackupDecision } from "./actions.ts";
import { nextStart, ownStart, backupRequestOf, type Start, startAfter } from "./due.ts";
import { atRest } from "./rest.ts";
import { lastingTrouble, type Trouble } from "./trouble.ts";
import { waitForOthers } from "./workers.ts";
import { delays } from "../../controllers/delays.ts";

export function beginOrRest(world: BackupWorld, now: number): BackupDecision {
  const { backup } = world;
  const start = nextStart(backup, now);
  if (start === undefined || start.at > now) return atRest(backup, now);
  const obstacle = obstacleIn(world);
  if (obstacle !== undefined) return waitFor(world, obstacle, now);
  const others = waitForOthers(world, now);
  if (others !== undefined) return { ...waitFor(world, lastingTrouble(backup), now), ...others };
  return begin(world, start, now);
}

function begin({ backup }: BackupWorld, start: Start, now: number): BackupDecision {
  const own = ownStart(backup, now);
  const request = backupRequestOf(backup);
  const { uid = "", generation = 0 } = backup.metadata;
  const { history } = backup.status;
  const what = { Once: generation, Interval: start.at, Schedule: start.at, Annotation: request }[start.trigger];
  const isServed = own !== undefined && own.at <= now;
  return {
    phase: "Running",
    because: "A worker is about to take the backup.",
    actions: [],
    trouble: lastingTrouble(backup),
    run: {
      // With the run before it: a person may ask twice in the same words.
      id: runId(uid, `${start.trigger} ${what} after ${history[0]?.id ?? "none"}`),
      trigger: start.trigger,
      startedAt: timeText(now),
      attempt: 1,
      step: "Backup",
    },
    nextRun: startAfter(backup, now),
    facts: {
      ...(own?.trigger === "Interval" && { lastScheduleTime: timeText(now) }),
      ...(own?.trigger === "Schedule" && isServed && { lastScheduleTime: timeText(own.at) }),
      ...(request !== undefined && { handledRequest: request }),
    },
  };
}

/** What has to be there before a worker can be made; no attempt is spent on it. */
export function obstacleIn({ origin, workerImage }: BackupWorld): Trouble | undefined {
  if (origin.t === "missing") return { reason: "ClusterMissing", message: origin.because };
  if (origin.t === "notServing") return { reason: "ClusterNotServing", message: origin.because };
  return workerImage === undefined ? imageUnknown : undefined;
}

export const imageUnknown: Trouble = {
  reason: "ImageUnknown",
  message:
    "The operator does not know its own image, which workers run: let it read its own pod, as example/rbac does, or start it with -worker-image.",
};

function waitFor({ backup }: BackupWorld, trouble: Trouble | undefined, now: number): BackupDecision {
  return {
    phase: "Pending",
    because: trouble?.message ?? "",
    actions: [],
    trouble,
    run: undefined,
    nextRun: ownStart(backup, now)?.at,
    ...(trouble?.reason === "ImageUnknown" && { requeueAfter: delays.ownImage }),
  };
}
