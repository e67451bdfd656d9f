// Writes down what was concluded: the status when it differs, and events and metrics about what has just happened.
import { conditionOf, rowOf } from "../../api/conditions.ts";
import { type CompleteStatus, EtcdBackup, type EtcdBackupStatus } from "../../api/etcd-backup/etcd-backup.ts";
import type { BackupExecution } from "../act/act.ts";
import { type Conclusion, withConditions } from "../../kube/objects/conditions.ts";
import { statusSchema } from "../../api/etcd-backup/status.ts";
import { statusPatch } from "../../controllers/status-patch.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import { printableLine } from "../../kube/objects/printable.ts";
import type { BackupPlan, Ended } from "../plan/actions.ts";
import { dueAt } from "../plan/due.ts";
import { problemType, type TroubleReason } from "../plan/trouble.ts";
import { wayOut } from "../plan/way-out.ts";
import { statusOf } from "./status.ts";
import { eventOf, type Note } from "../../controllers/event.ts";
import { type Reported, reportStatus } from "../../controllers/report-status.ts";

export function report({ decision, notes }: BackupPlan, execution: BackupExecution): Promise<Reported> {
  const { world, context } = execution;
  const status = decision && statusOf(world.backup, decision, context.now());
  return reportStatusOf(status, { notes, ended: decision?.ended ?? [] }, execution);
}

/** What Kubernetes refused is a problem, too. It stays in the status until the worker is there. */
export function reportRefusal(
  refusal: string,
  { decision }: BackupPlan,
  execution: BackupExecution,
): Promise<Reported> {
  const { backup } = execution.world;
  const now = execution.context.now();
  const before = decision === undefined ? backup.status : statusOf(backup, decision, now);
  const message = printableLine(before.phase === "Deleting" ? `${refusal} ${wayOut(backup)}` : refusal);
  const { generation: observedGeneration = 0 } = backup.metadata;
  const reason: TroubleReason = "Refused";
  const problem: Conclusion = { type: problemType, status: "True", reason, message, observedGeneration };
  const conditions = [...withConditions(before.conditions, [problem], new Date(now))];
  const status = { ...before, message, Reason: message, conditions };
  return reportStatusOf(status, { notes: [], ended: [] }, execution);
}

/** `status` undefined: it stays as it is. */
async function reportStatusOf(
  status: CompleteStatus | undefined,
  { notes, ended }: { readonly notes: readonly Note[]; readonly ended: readonly Ended[] },
  { world: { backup, problems }, reconcile, context }: BackupExecution,
): Promise<Reported> {
  const key = keyOf(backup);
  const stored = context.caches(key.namespace).backups.get(key)?.status ?? {};
  const record = (note: Note): void => context.events.record<EtcdBackup>(EtcdBackup, backup, eventOf(note));
  // A schedule that cannot be read asks for nothing.
  const isClear = problems.length === 0;
  const due = isClear ? dueAt({ ...backup, status: status ?? backup.status }, context.now()) : undefined;
  context.metrics.statusOf(key, status ?? stored, due);
  const patch = status === undefined ? undefined : statusPatch(statusSchema, stored, status);
  const reported = await reportStatus({ kind: EtcdBackup, object: backup, patch, problems }, reconcile);
  if (reported === "refused") record(["invalidSpec", problems.join(" ")]);
  if (reported === "refused" || reported === "outdated") return reported;
  for (const note of notes) record(note);
  for (const one of ended) context.metrics.ended(key, one);
  const turn = status === undefined || reported === "unchanged" ? undefined : turnForTheWorse(stored, status);
  if (turn !== undefined) record(turn);
  return reported;
}

/**
 * When it begins, and again when it is wrong in another way: the condition says it all the time. What lasts until a run has
 * succeeded names no event in the table: how a run ends is reported with the run.
 */
function turnForTheWorse(before: EtcdBackupStatus, after: EtcdBackupStatus): Note | undefined {
  const was = conditionOf(before.conditions, problemType);
  const is = conditionOf(after.conditions, problemType);
  if (is?.status !== "True" || (was?.status === "True" && was.reason === is.reason && was.message === is.message))
    return undefined;
  const event = rowOf("EtcdBackup", problemType, is)?.event;
  return event === undefined ? undefined : [event, is.message ?? ""];
}
