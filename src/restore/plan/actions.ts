// What can be decided about an EtcdRestore, as data: where it goes from here, what is done, and in a sentence why.
import type { EtcdClusterSpec } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { EtcdRestoreStatus } from "../../api/etcd-restore/etcd-restore.ts";
import { delays } from "../../controllers/delays.ts";
import type { Note } from "../../controllers/event.ts";
import type { Work } from "../objects/worker-pods.ts";
import type { RestorePhase } from "./phases.ts";

export type RestoreAction =
  /** Writes on the EtcdRestore as which object it has begun. */
  | { readonly do: "markBegun" }
  | { readonly do: "createWorker"; readonly work: Work }
  | { readonly do: "deleteWorker"; readonly name: string; readonly uid: string }
  /** Asks the cluster controller to replace the data of this very cluster, as it was seen. */
  | { readonly do: "askCluster"; readonly name: string; readonly uid: string; readonly resourceVersion: string }
  /** Takes away the annotation that asked, from this very cluster, as it was seen. */
  | { readonly do: "takeBackRequest"; readonly name: string; readonly uid: string; readonly resourceVersion: string }
  /** Asks in the same breath, so that no member is ever begun empty. */
  | { readonly do: "createCluster"; readonly name: string; readonly spec: EtcdClusterSpec };

/** Facts that are recorded. */
export type Facts = Omit<EtcdRestoreStatus, "phase" | "message" | "reason" | "conditions" | "succeeded">;

export type RestoreDecision =
  /** It stays in its phase. */
  | {
      readonly t: "stay";
      readonly because: string;
      readonly action?: RestoreAction;
      readonly record?: Facts;
      /** Nothing but a person lets it go on. */
      readonly needsAPerson?: true;
      /** Milliseconds; absent: something that is watched will change. */
      readonly requeueAfter?: number;
    }
  | {
      readonly t: "go";
      readonly to: Exclude<RestorePhase, "Succeeded" | "Failed">;
      readonly because: string;
      readonly record?: Facts;
      readonly notes?: readonly Note[];
    }
  /** The step is tried once more, by another worker. */
  | { readonly t: "retry"; readonly because: string; readonly requeueAfter: number }
  | { readonly t: "succeed"; readonly because: string; readonly record: Facts }
  | { readonly t: "fail"; readonly because: string }
  /** It was over before. */
  | { readonly t: "over"; readonly because?: string };

export const fail = (because: string): RestoreDecision => ({ t: "fail", because });

export const stay = (because: string, requeueAfter?: number): RestoreDecision => ({
  t: "stay",
  because,
  ...(requeueAfter !== undefined && { requeueAfter }),
});

/** In milliseconds. */
export const pace = {
  /** The pods of the first members are not watched. */
  seeding: delays.seeding,
  /** What a person has to change may be changed where no watch sees it. */
  slowly: delays.untilCorrected,
} as const;
