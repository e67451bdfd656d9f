// What the reconciles of all EtcdBackups share: the caches, events, metrics and the log.
import type { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import type { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import type { SharedContext } from "../controllers/context.ts";
import type { StoreView } from "../kube/cache/store.ts";
import type { Pod } from "../kube/objects/kinds.ts";
import type { BackupMetrics } from "./metrics.ts";

export interface BackupCaches {
  readonly backups: StoreView<EtcdBackup>;
  /** The pods of workers. Undefined while they may not be seen, or have not been seen yet: then nothing is decided. */
  readonly pods: StoreView<Pod> | undefined;
  /** Undefined while they may not be seen, or have not been seen yet. */
  readonly clusters: StoreView<EtcdCluster> | undefined;
}

export interface BackupContext extends SharedContext<EtcdBackup, BackupCaches> {
  readonly metrics: BackupMetrics;
}
