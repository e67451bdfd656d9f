// Decides what is done about an EtcdBackup. Pure: it returns what is written down first, the actions to carry out then, and
// when to reconcile again.
import type { BackupWorld } from "../observe/world.ts";
import type { BackupAction, BackupDecision, BackupPlan } from "./actions.ts";
import { beginOrRest } from "./begin.ts";
import { deleteBackups, deleteFinalizer, finalizersToSet, release } from "./deletion.ts";
import { followRun } from "./follow.ts";
import { leftovers } from "./workers.ts";

export function planBackup(world: BackupWorld, now: number): BackupPlan {
  const { metadata } = world.backup;
  const finalizers = finalizersToSet(world);
  if (finalizers !== undefined) return only(finalizers);
  if (metadata.deletionTimestamp === undefined) return planned(world, decide(world, now));
  // Owner references end its workers.
  if (metadata.finalizers?.includes(deleteFinalizer) !== true) return only();
  const deletion = deleteBackups(world, now);
  if (deletion.t !== "over") return planned(world, deletion.decision);
  return { ...only(release(world, deletion.because)), notes: deletion.notes };
}

/** In this order: a worker that has been made is followed to its end, whatever the spec says by now. */
function decide(world: BackupWorld, now: number): BackupDecision {
  const { run } = world.backup.status;
  if (run !== undefined) return followRun(world, run, now);
  return world.problems.length > 0 ? invalid(world) : beginOrRest(world, now);
}

function invalid({ problems }: BackupWorld): BackupDecision {
  const message = problems.join(" ");
  return {
    phase: "Failed",
    because: message,
    trouble: { reason: "InvalidSpec", message },
    run: undefined,
    nextRun: undefined,
    actions: [],
  };
}

function planned(world: BackupWorld, decision: BackupDecision): BackupPlan {
  return {
    decision,
    actions: [...decision.actions, ...leftovers(world, decision)],
    notes: decision.notes ?? [],
  };
}

const only = (...actions: readonly BackupAction[]): BackupPlan => ({ decision: undefined, actions, notes: [] });
