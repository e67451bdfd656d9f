// What can be decided about an EtcdRestore, as data: where it goes from here, what is done, and in a sentence why.
import type { RestorePhase } from "../observe/world.ts";
import type { EtcdClusterSpec } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { EtcdRestoreStatus } from "../../api/etcd-restore/etcd-restore.ts";
import { delays } from "../../controllers/delays.ts";
import type { Note } from "../../controllers/event.ts";
import type { WorkerAction } from "../../controllers/worker.ts";
import type { Decision } from "../../controllers/stages.ts";

export type RestoreAction =
  /** Writes on the EtcdRestore as which object it has begun. */
  | { readonly do: "markBegun" }
  | WorkerAction
  /** Asks the cluster controller to replace the data of this very cluster, as it was seen. */
  | { readonly do: "askCluster"; readonly name: string; readonly uid: string; readonly resourceVersion: string }
  /** Takes away the annotation that asked, from this very cluster, as it was seen. */
  | { readonly do: "takeBackRequest"; readonly name: string; readonly uid: string; readonly resourceVersion: string }
  /** Asks in the same breath, so that no member is ever begun empty. */
  | { readonly do: "createCluster"; readonly name: string; readonly spec: EtcdClusterSpec };

export type Recorded = Omit<EtcdRestoreStatus, "phase" | "message" | "reason" | "conditions" | "succeeded">;

/** It stays in its phase. */
interface Stays {
  readonly t: "stay";
  readonly record?: Recorded;
  /** Nothing but a person lets it go on. */
  readonly needsAPerson?: true;
}

interface Goes {
  readonly t: "go";
  readonly to: Exclude<RestorePhase, "Succeeded" | "Failed">;
  readonly record?: Recorded;
  readonly notes?: readonly Note[];
}

/** What a phase decides: what is done, and where the restore goes from here. */
export type RestoreDecision = Decision<RestoreAction> &
  (
    | Stays
    | Goes
    /** The step is tried once more, by another worker. */
    | { readonly t: "retry"; readonly requeueAfter: number }
    | { readonly t: "succeed"; readonly record: Recorded }
    | { readonly t: "fail" }
    /** It was over before. An empty `because`: and nothing is to be said about it. */
    | { readonly t: "over" }
  );

const actions: readonly RestoreAction[] = [];

type WhileItStays = Partial<Decision<RestoreAction>> & Omit<Stays, "t">;

export const stay = (because: string, more: WhileItStays = {}): RestoreDecision => ({
  t: "stay",
  actions,
  ...more,
  because,
});

/** For something that may change where no watch sees it. */
export const stayWaiting = (because: string): RestoreDecision => stay(because, { requeueAfter: delays.untilCorrected });

export const go = (to: Goes["to"], because: string, more: Omit<Goes, "t" | "to"> = {}): RestoreDecision => ({
  t: "go",
  to,
  because,
  actions,
  ...more,
});

export const retry = (because: string, requeueAfter: number): RestoreDecision => ({
  t: "retry",
  because,
  actions,
  requeueAfter,
});

export const succeed = (because: string, record: Recorded): RestoreDecision => ({
  t: "succeed",
  because,
  actions,
  record,
});
export const fail = (because: string): RestoreDecision => ({ t: "fail", because, actions });
export const over = (because = ""): RestoreDecision => ({ t: "over", because, actions });
