// The status of an EtcdRestore after a decision.
import type { VerdictsOn } from "../../api/conditions.ts";
import type { EtcdRestoreStatus } from "../../api/etcd-restore/etcd-restore.ts";
import { withConditions } from "../../kube/objects/conditions.ts";
import { type Progress, progressConditions } from "../../kube/objects/progress.ts";
import { printableLine } from "../../kube/objects/printable.ts";
import { type ObjectMeta, secondsTime } from "../../kube/objects/objects.ts";
import type { RestoreOutcome } from "../act/act.ts";
import { workerName } from "../objects/worker-pods.ts";
import type { RestoreWorld, RestorePhase } from "../observe/world.ts";
import type { RestoreDecision } from "../plan/actions.ts";
import { stamped } from "../../controllers/report-status.ts";

export function statusOf(
  world: Pick<RestoreWorld, "restore" | "worker">,
  { decision, obstacle }: Pick<RestoreOutcome, "decision" | "obstacle">,
  now: number,
): EtcdRestoreStatus {
  const { metadata, status: before } = world.restore;
  if (decision.t === "over") return decision.because === "" ? before : editSeen(before, metadata, decision.because);
  const date = new Date(now);
  const message = printableLine(obstacle?.t === "refused" ? obstacle.because : decision.because);
  const phase = phaseAfter(before.phase, decision);
  const observedGeneration = before.observedGeneration ?? metadata.generation;
  const generation = observedGeneration === undefined ? {} : { observedGeneration };
  const reason = phase ?? "Waiting";
  const verdicts: VerdictsOn<"EtcdRestore"> = {
    Complete: reason === "Succeeded" ? { status: "True", reason, message } : { status: "False", reason, message },
    ...progressConditions(progressIn(phase, decision), reason, message),
  };
  const conclusions = Object.entries(verdicts).map(([type, verdict]) => ({ type, ...verdict, ...generation }));
  return {
    ...factsAfter(world, decision, date),
    // As long as it has not begun, an edit counts.
    ...(phase !== undefined && { phase, ...generation }),
    message,
    conditions: stamped(before.conditions, withConditions(before.conditions, conclusions, date), date),
  };
}

/** The edit changes nothing, and counts as seen: else programs that wait would wait for ever. */
function editSeen(before: EtcdRestoreStatus, { generation }: ObjectMeta, message: string): EtcdRestoreStatus {
  return { ...before, message, ...(generation !== undefined && { observedGeneration: generation }) };
}

/** One that failed is not tried again: a person applies another. */
function progressIn(phase: RestorePhase | undefined, decision: RestoreDecision): Progress {
  if (phase === "Succeeded") return "done";
  const needsAPerson = decision.t === "stay" && decision.needsAPerson === true;
  return phase === "Failed" || needsAPerson ? "stalled" : "reconciling";
}

function phaseAfter(before: RestorePhase | undefined, decision: RestoreDecision): RestorePhase | undefined {
  if (decision.t === "succeed") return "Succeeded";
  if (decision.t === "fail") return "Failed";
  return decision.t === "go" ? decision.to : before;
}

function factsAfter(
  { restore, worker }: Pick<RestoreWorld, "restore" | "worker">,
  decision: RestoreDecision,
  now: Date,
): EtcdRestoreStatus {
  const { status } = restore;
  if (decision.t === "over") return status;
  if (decision.t === "stay") return { ...status, ...decision.record };
  const { pod: _, notBefore: __, ...kept } = status;
  if (decision.t === "go") {
    // What volumes are kept is read again at each step, and a check finds the backup again.
    const { keptVolumes: _kept, key, snapshotRevision, ...rest } = kept;
    // It was held up, by a person or by another restore, and clients have written since: what the cluster holds is saved again.
    const wasHeldUp = decision.to === "Checking" && status.phase !== "Saving";
    const facts = {
      ...rest,
      ...(decision.to !== "Checking" && key !== undefined && { key }),
      ...(!wasHeldUp && snapshotRevision !== undefined && { snapshotRevision }),
    };
    // The pod of the check before may be there still, and what it found is not asked for.
    const attempt = decision.to === status.phase ? status.attempt + 1 : 1;
    return { ...facts, ...decision.record, attempt };
  }
  if (decision.t === "retry")
    return {
      ...kept,
      attempt: status.attempt + 1,
      notBefore: secondsTime(new Date(now.getTime() + decision.requeueAfter)),
    };
  const completedAt = secondsTime(now);
  if (decision.t === "succeed") return { ...kept, ...decision.record, succeeded: true, completedAt };
  // Its worker stays, for its log.
  const pod = worker === undefined ? status.pod : workerName(restore);
  const startedAt = status.startedAt ?? completedAt;
  return { ...kept, ...(pod !== undefined && { pod }), reason: decision.because, startedAt, completedAt };
}
