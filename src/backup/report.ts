// Writes down what was concluded: the status when it differs, and events and metrics about what has just happened.
import { rowOf } from "../api/conditions.ts";
import { EtcdBackup, type EtcdBackupStatus } from "../api/etcd-backup/etcd-backup.ts";
import type { ReconcileContext } from "../kube/controller/reconcile.ts";
import { type Conclusion, withConditions } from "../kube/objects/conditions.ts";
import { mergePatchBetween } from "../kube/objects/merge-patch.ts";
import { keyOf } from "../kube/objects/objects.ts";
import { printableLine } from "../kube/objects/printable.ts";
import type { BackupContext } from "./context.ts";
import type { View } from "./observe/view.ts";
import type { Plan } from "./plan/actions.ts";
import { dueAt } from "./plan/due.ts";
import { problemType, type TroubleReason } from "./plan/trouble.ts";
import { wayOut } from "./plan/way-out.ts";
import { eventOf, type Note } from "../controllers/event.ts";
import { type Reported, reportStatus } from "../controllers/report-status.ts";

export async function report(
  { status, notes, ended }: Plan,
  view: View,
  reconcile: ReconcileContext,
  context: BackupContext,
): Promise<Reported> {
  const { backup } = view;
  const key = keyOf(backup);
  const stored = context.caches(key.namespace).backups.get(key)?.status ?? {};
  const record = (note: Note): void => context.events.record<EtcdBackup>(EtcdBackup, backup, eventOf(note));
  // A schedule that cannot be read asks for nothing.
  const isClear = view.problems.length === 0;
  const due = isClear ? dueAt({ ...backup, status: status ?? backup.status }, context.now()) : undefined;
  context.metrics.statusOf(key, status ?? stored, due);
  const patch = status === undefined ? undefined : mergePatchBetween(stored, status);
  const reported = await reportStatus({ kind: EtcdBackup, object: backup, patch, problems: view.problems }, reconcile);
  if (reported === "refused") record(["invalidSpec", view.problems.join(" ")]);
  if (reported === "refused" || reported === "outdated") return reported;
  for (const note of notes) record(note);
  for (const one of ended) context.metrics.ended(key, one);
  const turn = status === undefined || reported === "unchanged" ? undefined : turnForTheWorse(stored, status);
  if (turn !== undefined) record(turn);
  return reported;
}

/** What Kubernetes refused is a problem, too. It stays in the status until the worker is there. */
export async function reportRefusal(
  refusal: string,
  plan: Plan,
  view: View,
  reconcile: ReconcileContext,
  context: BackupContext,
): Promise<Reported> {
  const before = plan.status ?? view.backup.status;
  const message = printableLine(before.phase === "Deleting" ? `${refusal} ${wayOut(view.backup)}` : refusal);
  const { generation: observedGeneration = 0 } = view.backup.metadata;
  const reason: TroubleReason = "Refused";
  const problem: Conclusion = { type: problemType, status: "True", reason, message, observedGeneration };
  const conditions = [...withConditions(before.conditions, [problem], new Date(context.now()))];
  const status = { ...before, message, Reason: message, conditions };
  return await report({ status, actions: [], notes: [], ended: [] }, view, reconcile, context);
}

/**
 * When it begins, and again when it is wrong in another way: the condition says it all the time. What lasts until a run has
 * succeeded names no event in the table: how a run ends is reported with the run.
 */
function turnForTheWorse(before: EtcdBackupStatus, after: EtcdBackupStatus): Note | undefined {
  const was = before.conditions?.find(({ type }) => type === problemType);
  const is = after.conditions?.find(({ type }) => type === problemType);
  if (is?.status !== "True" || (was?.status === "True" && was.reason === is.reason && was.message === is.message))
    return undefined;
  const event = rowOf("EtcdBackup", problemType, is)?.event;
  return event === undefined ? undefined : [event, is.message ?? ""];
}
