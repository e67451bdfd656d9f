// What an EtcdBackup is like while no run is under way: it waits for its time, or its only run is over.
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { isSeries, timeText } from "../objects/jobs.ts";
import type { BackupDecision, BackupPhase } from "./actions.ts";
import { isInherited, isToRunOnce, ownStart } from "./due.ts";
import { lastingTrouble, type Trouble } from "./trouble.ts";

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
