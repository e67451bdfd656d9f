// The status that follows from a decision. What the decision does not touch stays as it was.
import type { VerdictOn, VerdictsOn } from "../../api/conditions.ts";
import type { CompleteEtcdBackup, CompleteStatus } from "../../api/etcd-backup/etcd-backup.ts";
import { type Conclusion, withConditions } from "../../kube/objects/conditions.ts";
import { printableLine } from "../../kube/objects/printable.ts";
import { type Progress, progressConditions } from "../../kube/objects/progress.ts";
import { timeText } from "../objects/jobs.ts";
import type { BackupDecision, BackupPhase } from "../plan/actions.ts";
import type { Trouble, TroubleReason } from "../plan/trouble.ts";

export function statusOf(backup: CompleteEtcdBackup, decision: BackupDecision, now: number): CompleteStatus {
  const { phase, because, trouble, run, nextRun, facts = {} } = decision;
  const { Reason: _, run: __, nextRun: ___, ...before } = backup.status;
  const known = { ...before, ...facts };
  return {
    ...known,
    phase,
    message: printableLine(because),
    ...(run !== undefined && { run }),
    ...(nextRun !== undefined && { nextRun: timeText(nextRun) }),
    ...reasonOf(trouble),
    conditions: [...withConditions(before.conditions, conclusionsOf(backup, decision, known), new Date(now))],
    observedGeneration: backup.metadata.generation ?? 0,
  };
}

/** A backup that is complete has no reason to have failed, even if it could not be verified, or older ones are kept. */
const reasonOf = (trouble: Trouble | undefined): Pick<CompleteStatus, "Reason"> =>
  trouble === undefined || aboutComplete.has(trouble.reason) ? {} : { Reason: printableLine(trouble.message) };

const aboutComplete: ReadonlySet<TroubleReason> = new Set<TroubleReason>(["VerificationFailed", "PruningStopped"]);

function conclusionsOf(
  { metadata: { generation = 0 } }: CompleteEtcdBackup,
  { phase, because: message, trouble, verified }: BackupDecision,
  { succeeded, lastBackup }: Pick<CompleteStatus, "succeeded" | "lastBackup">,
): Conclusion[] {
  const reason = trouble?.reason ?? phase;
  const progress = progressIn(phase, lastBackup !== undefined);
  const verdicts: VerdictsOn<"EtcdBackup"> = {
    Complete:
      succeeded || reason === "Succeeded"
        ? { status: "True", reason: "Succeeded", message: "The last backup is complete." }
        : { status: "False", reason, message },
    Problem:
      trouble === undefined
        ? { status: "False", reason: "None", message: "" }
        : { status: "True", reason: trouble.reason, message: trouble.message },
    ...progressConditions(progress, reason, message),
    ...(verified !== undefined && { Verified: verdictOn(verified) }),
  };
  return Object.entries(verdicts).map(([type, verdict]) => ({ type, ...verdict, observedGeneration: generation }));
}

const verdictOn = ({
  status,
  message,
}: NonNullable<BackupDecision["verified"]>): VerdictOn<"EtcdBackup", "Verified"> =>
  status === "True" ? { status, reason: "Restored", message } : { status, reason: "VerificationFailed", message };

/** A series that has a backup is as it should be, whether another run is under way or not; what is wrong is in Problem. */
function progressIn(phase: BackupPhase, hasBackup: boolean): Progress {
  if (phase === "Failed") return "stalled";
  const isUnderWay = phase === "Pending" || phase === "Running" || phase === "Verifying" || phase === "Deleting";
  return isUnderWay && (!hasBackup || phase === "Deleting") ? "reconciling" : "done";
}
