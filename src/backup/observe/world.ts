// Everything that a decision about an EtcdBackup may depend on, but for the time.
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import type { Job, Result } from "../../worker/job.ts";
import type { Stuck } from "../../worker/trouble.ts";
import type { Origin } from "../objects/jobs.ts";

export interface BackupWorld {
  readonly backup: CompleteEtcdBackup;
  /** What is wrong with its spec, in sentences. */
  readonly problems: readonly string[];
  /** Its pods, the oldest first. */
  readonly workers: readonly RunWorker[];
  readonly origin: Origin;
  /** The image of workers: the operator's own. Undefined: it is not known yet. */
  readonly workerImage: string | undefined;
  /** `terminating`: nothing can be created in it any more. Only read where that matters: when its backups are to be deleted. */
  readonly namespace: "active" | "terminating";
}

export interface RunWorker {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  /** The generation of the EtcdBackup that it was made from. */
  readonly generation: number;
  readonly job: Job | undefined;
  readonly state: WorkerState;
  /** It was deleted, and is to be gone by this time. */
  readonly goneBy?: number;
}

export type WorkerState =
  /** No container has started. */
  | { readonly t: "waiting"; readonly stuck: Stuck }
  /** `stuck`: another of its containers does not start. */
  | { readonly t: "running"; readonly stuck?: Stuck }
  /** `left`: its containers have all ended, and it costs nothing; or one goes on for ever, as the etcd of a verification. */
  | { readonly t: "ended"; readonly result: Result; readonly left: "nothing" | "containers" };
