// What the reconciles of all EtcdBackups share: the caches, events, metrics and the log.
import type { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import type { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import type { Unclaimed } from "../controllers/unclaimed/unclaimed.ts";
import type { Events } from "../api/events.ts";
import type { StoreView } from "../kube/cache/store.ts";
import type { Pod } from "../kube/objects/kinds.ts";
import type { Logger } from "../kube/process/log.ts";
import type { BackupMetrics } from "./metrics.ts";

export interface BackupCaches {
  readonly backups: StoreView<EtcdBackup>;
  /** Of workers. Undefined while they may not be seen, or have not been seen yet: then nothing is decided. */
  readonly pods: StoreView<Pod> | undefined;
  /** Undefined while they may not be seen, or have not been seen yet. */
  readonly clusters: StoreView<EtcdCluster> | undefined;
}

export interface BackupContext {
  /** Those of one namespace. */
  readonly caches: (namespace: string) => BackupCaches;
  /** Whether this operator manages the EtcdBackup. */
  readonly isOurs: (backup: EtcdBackup) => boolean;
  /** Takes up those that no operator looks after. */
  readonly unclaimed: Unclaimed<EtcdBackup>;
  /** The image of workers: the operator's own. Undefined: it is not known yet. */
  readonly workerImage: () => string | undefined;
  readonly events: Events;
  readonly metrics: BackupMetrics;
  readonly log: Logger;
  /** The time of day in milliseconds, as Kubernetes writes it into objects. */
  readonly now: () => number;
}
