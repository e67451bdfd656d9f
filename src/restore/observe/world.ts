// All that a decision about an EtcdRestore may depend on, read once.
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import type { CompleteEtcdCluster, EtcdClusterSpec } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import type { Worker } from "../../controllers/worker.ts";
import type { BackupFacts, FailureCode } from "../../worker/job.ts";

export interface RestoreWorld {
  readonly restore: CompleteEtcdRestore;
  /** What is wrong with the spec, in sentences. */
  readonly problems: readonly string[];
  /** As it was written: what is a default stays one in the EtcdCluster that is made from it. */
  readonly clusterSpec: EtcdClusterSpec | undefined;
  readonly backup: NamedBackup;
  /** That the spec names; once the restore has one, that very one, under whatever name. */
  readonly cluster: CompleteEtcdCluster | undefined;
  /** Another EtcdRestore that the cluster follows, and that is under way. */
  readonly rival: string | undefined;
  /** For a cluster that is to be replaced, until it takes that up. */
  readonly volumes: Volumes;
  /** The pod that has the name of the attempt that is under way. `foreign`: it is somebody else's. */
  readonly worker: Worker | "foreign" | undefined;
  /** While the backup is being checked: the pod that saves what the cluster holds meanwhile. */
  readonly savingEarly: { readonly name: string; readonly uid: string } | undefined;
  readonly seeds: readonly Seed[];
  /** The cluster that carries a request of this very EtcdRestore which is of no use any more. */
  readonly requested: { readonly name: string; readonly uid: string; readonly resourceVersion: string } | undefined;
  /** Workers that are of no use any more. */
  readonly spent: readonly { readonly name: string; readonly uid: string }[];
  /** The operator's own; undefined: not known. */
  readonly image: string | undefined;
}

export interface Volumes {
  /** The claims that outlive the members. */
  readonly kept: readonly string[];
  /** Every member that votes has its data in one of them. */
  readonly holdAll: boolean;
}

export type NamedBackup =
  /** `spec.backup` is absent. */
  | { readonly t: "none" }
  | { readonly t: "missing"; readonly name: string }
  | { readonly t: "forbidden"; readonly name: string }
  | { readonly t: "there"; readonly backup: CompleteEtcdBackup; readonly problems: readonly string[] };

/** A first member of the restored cluster, by the init container that makes its data. */
export type Seed =
  | { readonly t: "starting"; readonly member: string }
  | {
      readonly t: "failed";
      readonly member: string;
      readonly code: FailureCode;
      readonly message: string;
      readonly times: number;
    }
  /** Without `backup` its data was there before its pod, which is one that was made again. */
  | { readonly t: "made"; readonly member: string; readonly backup?: BackupFacts };

export type RestorePhase = NonNullable<CompleteEtcdRestore["status"]["phase"]>;

/** Done is done: it is never begun again. One that etcd-operator 0.9 has carried out has no phase. */
export function isOver({ status: { phase, succeeded, reason = "" } }: CompleteEtcdRestore): boolean {
  return phase === "Succeeded" || phase === "Failed" || (phase === undefined && (succeeded || reason !== ""));
}

export const backupOf = ({ backup }: Pick<RestoreWorld, "backup">): CompleteEtcdBackup | undefined =>
  backup.t === "there" ? backup.backup : undefined;
