// Writes down what was decided: the status when it differs, an event for each turn, and how the restore ended.
import { EtcdRestore, type EtcdRestoreStatus } from "../../api/etcd-restore/etcd-restore.ts";
import { eventOf, type Note } from "../../controllers/event.ts";
import { type Reported, reportStatus } from "../../controllers/report-status.ts";
import { statusSchema } from "../../api/etcd-restore/status.ts";
import { statusPatch } from "../../controllers/status-patch.ts";
import { keyOf, keyText } from "../../kube/objects/objects.ts";
import type { RestoreExecution, RestoreOutcome } from "../act/act.ts";
import { statusOf } from "./status.ts";

export async function report(
  outcome: RestoreOutcome,
  { world, reconcile, context }: RestoreExecution,
): Promise<Reported> {
  const { restore } = world;
  const key = keyOf(restore);
  const stored = context.caches(key.namespace).restores.get(key)?.status ?? {};
  const after = statusOf(world, outcome, context.now());
  const patch =
    outcome.decision.t === "over" && outcome.decision.because === ""
      ? undefined
      : statusPatch(statusSchema, stored, after);
  const { problems } = world;
  const reported = await reportStatus({ kind: EtcdRestore, object: restore, patch, problems }, reconcile);
  if (reported === "unchanged" || reported === "outdated") return reported;
  for (const note of notesOn(outcome)) context.events.record(EtcdRestore, restore, eventOf(note, "Restore"));
  if (reported === "refused") return reported;
  context.log.info("restore", {
    restore: keyText(key),
    reconcileID: reconcile.id,
    phase: after.phase,
    because: after.message,
  });
  measure(outcome, after, context);
  return "written";
}

function notesOn({ decision }: RestoreOutcome): readonly Note[] {
  if (decision.t === "go") return decision.notes ?? [];
  if (decision.t === "succeed") return [["restoreSucceeded", decision.because]];
  return decision.t === "fail" ? [["restoreFailed", decision.because]] : [];
}

function measure(
  { decision }: RestoreOutcome,
  { startedAt = "", completedAt = "" }: EtcdRestoreStatus,
  { metrics }: RestoreExecution["context"],
): void {
  if (decision.t !== "succeed" && decision.t !== "fail") return;
  const seconds = (Date.parse(completedAt) - Date.parse(startedAt)) / 1000;
  metrics.ended(decision.t === "succeed" ? "succeeded" : "failed", seconds);
}
