// What is wrong with an EtcdBackup, as its condition Problem says it: some of it holds while it can be seen, the rest until
// a run has succeeded.
import { conditionOf, conditionTypes, isIn, type ReasonOf } from "../../api/conditions.ts";
import { lastingProblems } from "../../api/conditions/etcd-backup.ts";
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";

type LastingReason = keyof typeof lastingProblems;
export type TroubleReason = ReasonOf<"EtcdBackup", "Problem", "True">;

export interface Trouble {
  readonly reason: TroubleReason;
  readonly message: string;
}

export const problemType = "Problem";

/** As the status has it. */
export function problemIn({ status }: Pick<CompleteEtcdBackup, "status">): Trouble | undefined {
  const condition = conditionOf(status.conditions, problemType);
  if (condition?.status !== "True") return undefined;
  const { reason, message } = condition;
  return isIn(conditionTypes.EtcdBackup.Problem.reasons.True, reason) ? { reason, message } : undefined;
}

/** What is still wrong when nothing else is. */
export function lastingTrouble(backup: Pick<CompleteEtcdBackup, "status">): Trouble | undefined {
  const before = problemIn(backup);
  return before !== undefined && isLasting(before.reason) ? before : undefined;
}

export const isLasting = (reason: TroubleReason): reason is LastingReason => isIn(lastingProblems, reason);
