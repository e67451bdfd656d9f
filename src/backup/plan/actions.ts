// All that can be done about an EtcdBackup, as data, and what a plan is made of.
import type { CompleteStatus } from "../../api/etcd-backup/etcd-backup.ts";
import type { Trouble } from "./trouble.ts";
import type { WorkerAction } from "../../controllers/worker.ts";
import type { Note } from "../../controllers/event.ts";
import type { Decision } from "../../controllers/stages.ts";

export type Run = NonNullable<CompleteStatus["run"]>;
export type BackupPhase = NonNullable<CompleteStatus["phase"]>;

export type BackupAction =
  | WorkerAction
  | { readonly do: "setFinalizers"; readonly finalizers: readonly string[]; readonly because: string };

/** What has just come to an end, for metrics. */
export type Ended =
  | { readonly t: "run"; readonly result: "Succeeded" | "Failed" }
  | { readonly t: "verification"; readonly result: "Succeeded" | "Failed" };

/** What a rule decides; the rest of the status follows from it. Its `because` stays the same while nothing changes. */
export interface BackupDecision extends Decision<BackupAction> {
  readonly phase: BackupPhase;
  readonly trouble: Trouble | undefined;
  readonly run: Run | undefined;
  /** When the next run begins by itself, or was to begin; undefined: none does. */
  readonly nextRun: number | undefined;
  /** How a verification ended; absent: none has just ended. */
  readonly verified?: { readonly status: "True" | "False"; readonly message: string };
  readonly facts?: Partial<CompleteStatus>;
  readonly notes?: readonly Note[];
  readonly ended?: readonly Ended[];
}

export interface BackupPlan {
  /** Written first, so that whoever comes after a crash knows what was intended. Undefined: the status stays as it is. */
  readonly decision: BackupDecision | undefined;
  /** Done once the status is as the decision says. */
  readonly actions: readonly BackupAction[];
  readonly notes: readonly Note[];
}
