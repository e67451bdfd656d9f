// What the reconciles of all EtcdRestores share: the caches, events, metrics and the log.
import type { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import type { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import type { Scope } from "../api/scope.ts";
import type { Unclaimed } from "../controllers/unclaimed/unclaimed.ts";
import type { Events } from "../api/events.ts";
import type { StoreView } from "../kube/cache/store.ts";
import type { Pod } from "../kube/objects/kinds.ts";
import type { Logger } from "../kube/process/log.ts";
import type { RestoreMetrics } from "./metrics.ts";

export interface RestoreCaches {
  readonly restores: StoreView<EtcdRestore>;
  readonly clusters: StoreView<EtcdCluster>;
  /** Those of workers, this controller's and others. */
  readonly pods: StoreView<Pod>;
}

export interface RestoreContext {
  /** Those of one namespace. */
  readonly caches: (namespace: string) => RestoreCaches;
  readonly scope: Scope["t"];
  /** Takes up those that no operator looks after. */
  readonly unclaimed: Unclaimed<EtcdRestore>;
  /** The image that workers run; undefined: not known yet. */
  readonly workerImage: () => string | undefined;
  readonly events: Events;
  readonly metrics: RestoreMetrics;
  readonly log: Logger;
  /** The time of day in milliseconds, as Kubernetes writes it into objects. */
  readonly now: () => number;
}
