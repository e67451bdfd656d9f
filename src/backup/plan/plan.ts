// Decides what is done about an EtcdBackup. Pure: it returns the status to write first, the actions to carry out then, and
// when to look again.
import type { View } from "../observe/view.ts";
import type { Action, Decision, Plan } from "./actions.ts";
import { beginOrRest } from "./begin.ts";
import { deleteBackups, deleteFinalizer, finalizersToSet, release } from "./deletion.ts";
import { followRun } from "./follow.ts";
import { statusOf } from "./status.ts";
import { leftovers } from "./workers.ts";

export function planBackup(view: View, now: number): Plan {
  const { metadata } = view.backup;
  const finalizers = finalizersToSet(view);
  if (finalizers !== undefined) return only(finalizers);
  if (metadata.deletionTimestamp === undefined) return planned(view, decide(view, now), now);
  // Owner references end its workers.
  if (metadata.finalizers?.includes(deleteFinalizer) !== true) return only();
  const deletion = deleteBackups(view, now);
  if (deletion.t !== "over") return planned(view, deletion.decision, now);
  return { ...only(release(view, deletion.because)), notes: deletion.notes };
}

/** In this order: a worker that has been made is followed to its end, whatever the spec says by now. */
function decide(view: View, now: number): Decision {
  const { run } = view.backup.status;
  if (run !== undefined) return followRun(view, run, now);
  return view.problems.length > 0 ? invalid(view) : beginOrRest(view, now);
}

function invalid({ problems }: View): Decision {
  const message = problems.join(" ");
  return { phase: "Failed", message, trouble: { reason: "InvalidSpec", message }, run: undefined, nextRun: undefined };
}

function planned(view: View, decision: Decision, now: number): Plan {
  const { actions = [], notes = [], ended = [], requeueAt } = decision;
  return {
    status: statusOf(view.backup, decision, now),
    actions: [...actions, ...leftovers(view, decision)],
    notes,
    ended,
    ...(requeueAt !== undefined && { requeueAt }),
  };
}

const only = (...actions: readonly Action[]): Plan => ({ actions, notes: [], ended: [] });
