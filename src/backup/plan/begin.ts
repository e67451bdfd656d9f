// Begins a run when one is due, and rests otherwise. The name of a run is written down before anything is made, so there is
// never a second one of it.
import { isSeries, timeText } from "../objects/jobs.ts";
import { runId } from "../objects/names.ts";
import type { BackupWorld } from "../observe/world.ts";
import type { BackupDecision, BackupPhase } from "./actions.ts";
import { backupRequestOf, isInherited, isToRunOnce, nextStart, ownStart, type Start, startAfter } from "./due.ts";
import { lastingTrouble, type Trouble } from "./trouble.ts";
import { waitForOthers } from "./workers.ts";
import { delays } from "../../controllers/delays.ts";
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";

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

/** What an EtcdBackup is like while no run is under way: it waits for its time, or its only run is over. */
type Resting = Pick<CompleteEtcdBackup, "metadata" | "spec" | "status">;

export function atRest(backup: CompleteEtcdBackup, now: number): BackupDecision {
  const start = ownStart(backup, now);
  const phase = restingPhase(backup);
  return {
    phase,
    because: messageOf(phase, start?.at),
    actions: [],
    trouble: inheritedTrouble(backup) ?? lastingTrouble(backup),
    run: undefined,
    nextRun: start?.at,
    ...(start !== undefined && { requeueAfter: start.at - now }),
  };
}

function restingPhase(backup: CompleteEtcdBackup): BackupPhase {
  const isSuspended = backup.spec.backupPolicy.suspend;
  if (isSeries(backup)) return isSuspended ? "Suspended" : "Scheduled";
  if (isToRunOnce(backup)) return isSuspended ? "Suspended" : "Pending";
  return backup.status.succeeded ? "Succeeded" : "Failed";
}

function messageOf(phase: BackupPhase, nextRun: number | undefined): string {
  if (phase === "Suspended") return "No backups begin while spec.backupPolicy.suspend is true.";
  if (nextRun !== undefined) return `The next backup begins at ${timeText(nextRun)}.`;
  if (phase === "Succeeded") return "The backup is complete.";
  return "The backup failed. It is tried again when the spec is edited, or on request by the annotation etcd.database.coreos.com/backup-now.";
}

/** What etcd-operator 0.9 said of a run that failed. */
function inheritedTrouble(backup: Resting): Trouble | undefined {
  const { succeeded, Reason: message } = backup.status;
  return isInherited(backup) && !succeeded && message !== undefined ? { reason: "BackupFailed", message } : undefined;
}
