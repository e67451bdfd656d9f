// The status that follows from a decision. What the decision does not touch stays as it was.
import type { CompleteEtcdBackup, CompleteStatus } from "../../api/etcd-backup/etcd-backup.ts";
import { type Conclusion, withConditions } from "../../kube/objects/conditions.ts";
import { printableLine } from "../../kube/objects/printable.ts";
import { type Progress, progressConditions } from "../../kube/objects/progress.ts";
import { timeText } from "../objects/jobs.ts";
import type { Decision, Phase } from "./actions.ts";
import { problemType, type Trouble, type TroubleReason } from "./trouble.ts";

export function statusOf(backup: CompleteEtcdBackup, decision: Decision, now: number): CompleteStatus {
  const { phase, message, trouble, run, nextRun, facts = {} } = decision;
  const { Reason: _, run: __, nextRun: ___, ...before } = backup.status;
  const known = { ...before, ...facts };
  return {
    ...known,
    phase,
    message: printableLine(message),
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
  { phase, message, trouble, verified }: Decision,
  { succeeded, lastBackup }: Pick<CompleteStatus, "succeeded" | "lastBackup">,
): Conclusion[] {
  const complete: Conclusion = succeeded
    ? { type: "Complete", status: "True", reason: "Succeeded", message: "The last backup is complete." }
    : { type: "Complete", status: "False", reason: trouble?.reason ?? phase, message };
  const problem: Conclusion =
    trouble === undefined
      ? { type: problemType, status: "False", reason: "None", message: "" }
      : { type: problemType, status: "True", reason: trouble.reason, message: trouble.message };
  const verification: Conclusion[] =
    verified === undefined
      ? []
      : [
          {
            type: "Verified",
            status: verified.status,
            reason: verified.status === "True" ? "Restored" : "VerificationFailed",
            message: verified.message,
          },
        ];
  const { Reconciling, Stalled } = progressConditions(
    progressIn(phase, lastBackup !== undefined),
    trouble?.reason ?? phase,
    message,
  );
  const progress: Conclusion[] = [
    { type: "Reconciling", ...Reconciling },
    { type: "Stalled", ...Stalled },
  ];
  return [complete, problem, ...progress, ...verification].map((one) => ({ ...one, observedGeneration: generation }));
}

/** A series that has a backup is as it should be, whether another run is under way or not; what is wrong is in Problem. */
function progressIn(phase: Phase, hasBackup: boolean): Progress {
  if (phase === "Failed") return "stalled";
  const isUnderWay = phase === "Pending" || phase === "Running" || phase === "Verifying" || phase === "Deleting";
  return isUnderWay && (!hasBackup || phase === "Deleting") ? "reconciling" : "done";
}
