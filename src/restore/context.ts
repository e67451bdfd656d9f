// What the reconciles of all EtcdRestores share: the caches, events, metrics and the log.
import type { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import type { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import type { SharedContext } from "../controllers/context.ts";
import type { StoreView } from "../kube/cache/store.ts";
import type { Pod } from "../kube/objects/kinds.ts";
import type { RestoreMetrics } from "./metrics.ts";

export interface RestoreCaches {
  readonly restores: StoreView<EtcdRestore>;
  readonly clusters: StoreView<EtcdCluster>;
  /** Those of workers, this controller's and others. */
  readonly pods: StoreView<Pod>;
}

export interface RestoreContext extends SharedContext<EtcdRestore, RestoreCaches> {
  readonly metrics: RestoreMetrics;
}
