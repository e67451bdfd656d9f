// What is wrong with an EtcdBackup, as its condition Problem says it: some of it holds while it can be seen, the rest until
// a run has succeeded.
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";

export const troubles = {
  /** They hold as long as they are seen. */
  seen: [
    "InvalidSpec",
    "ClusterMissing",
    "ClusterNotServing",
    "ImageUnknown",
    "WorkerCannotStart",
    "Refused",
    "DeletionFailed",
  ],
  /** They hold until a run has succeeded. */
  lasting: ["AttemptFailed", "BackupFailed", "VerificationFailed", "PruningStopped"],
} as const;

/** It goes on by itself: to programs that wait it has not failed. */
export const passingTroubles: readonly TroubleReason[] = ["ClusterNotServing", "AttemptFailed"];

export type LastingReason = (typeof troubles.lasting)[number];
export type TroubleReason = (typeof troubles.seen)[number] | LastingReason;

export interface Trouble {
  readonly reason: TroubleReason;
  readonly message: string;
}

export const problemType = "Problem";

/** As the status has it. */
export function problemIn({ status }: Pick<CompleteEtcdBackup, "status">): Trouble | undefined {
  const condition = status.conditions.find(({ type }) => type === problemType);
  if (condition?.status !== "True") return undefined;
  const reason = [...troubles.seen, ...troubles.lasting].find((known) => known === condition.reason);
  return reason === undefined ? undefined : { reason, message: condition.message };
}

/** What is still wrong when nothing else is. */
export function lastingTrouble(backup: Pick<CompleteEtcdBackup, "status">): Trouble | undefined {
  const before = problemIn(backup);
  return before !== undefined && isLasting(before.reason) ? before : undefined;
}

const isLasting = (reason: TroubleReason): reason is LastingReason =>
  troubles.lasting.some((lasting) => lasting === reason);
