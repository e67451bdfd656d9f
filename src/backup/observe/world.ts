// Everything that a decision about an EtcdBackup may depend on, but for the time.
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import type { Worker } from "../../controllers/worker.ts";
import type { Origin } from "../objects/jobs.ts";

export interface BackupWorld {
  readonly backup: CompleteEtcdBackup;
  /** What is wrong with its spec, in sentences. */
  readonly problems: readonly string[];
  /** Its pods, the oldest first. */
  readonly workers: readonly Worker[];
  readonly origin: Origin;
  /** The image of workers: the operator's own. Undefined: it is not known yet. */
  readonly workerImage: string | undefined;
  /** `terminating`: nothing can be created in it any more. Only read where that matters: when its backups are to be deleted. */
  readonly namespace: "active" | "terminating";
}
