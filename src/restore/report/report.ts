// Writes down what was decided: the status when it differs, an event for each turn, and how the restore ended.
import { EtcdRestore, type EtcdRestoreStatus } from "../../api/etcd-restore/etcd-restore.ts";
import { type EventName, eventReasons, type KnownEvent } from "../../api/events.ts";
import { fieldManager } from "../../api/field-manager.ts";
import { isConflict, isInvalid, isNotFound } from "../../kube/client/errors.ts";
import { keyOf, keyText } from "../../kube/objects/objects.ts";
import type { Execution, Outcome } from "../act/act.ts";
import type { Note } from "../plan/decision.ts";
import { patchBetween, statusOf } from "./status.ts";

export type Reported = "written" | "unchanged" | "outdated" | "refused";

/**
 * `outdated`: somebody else wrote meanwhile, and the next reconcile reports. `refused`: the object was stored before the
 * rules that forbid its name, and with it every status is refused. Then only an event can say so.
 */
export async function report(outcome: Outcome, { world, reconcile, context }: Execution): Promise<Reported> {
  const { restore } = world;
  const key = keyOf(restore);
  const stored = context.caches(key.namespace).restores.get(key)?.status ?? {};
  const after = statusOf(world, outcome, context.now());
  const patch =
    outcome.decision.t === "over" && outcome.decision.because === undefined ? undefined : patchBetween(stored, after);
  if (patch === undefined) return "unchanged";
  const { resourceVersion } = restore.metadata;
  const notes = notesOn(outcome);
  try {
    await reconcile.api.mergePatch(
      EtcdRestore,
      key,
      { metadata: { resourceVersion }, status: patch },
      { subresource: "status", fieldManager },
    );
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return "outdated";
    if (!isInvalid(error) || world.problems.length === 0) throw error;
    for (const [name, note] of notes) context.events.record(EtcdRestore, restore, eventOf(name, note));
    return "refused";
  }
  for (const [name, note] of notes) context.events.record(EtcdRestore, restore, eventOf(name, note));
  context.log.info("restore", {
    restore: keyText(key),
    reconcileID: reconcile.id,
    phase: after.phase,
    because: after.message,
  });
  measure(outcome, after, context);
  return "written";
}

function notesOn({ decision }: Outcome): readonly Note[] {
  if (decision.t === "go") return decision.notes ?? [];
  if (decision.t === "succeed") return [["restoreSucceeded", decision.because]];
  return decision.t === "fail" ? [["restoreFailed", decision.because]] : [];
}

/** By its row in the table of reasons. */
export function eventOf(name: EventName, note: string): KnownEvent {
  const { reason, type } = eventReasons[name];
  return { type, reason, action: "Restore", note };
}

function measure(
  { decision }: Outcome,
  { startedAt = "", completedAt = "" }: EtcdRestoreStatus,
  { metrics }: Execution["context"],
): void {
  if (decision.t !== "succeed" && decision.t !== "fail") return;
  const seconds = (Date.parse(completedAt) - Date.parse(startedAt)) / 1000;
  metrics.ended(decision.t === "succeed" ? "succeeded" : "failed", seconds);
}
