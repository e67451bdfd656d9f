// The controller of EtcdBackups: which changes requeue one, and how many are reconciled side by side.
import { isDeepStrictEqual } from "node:util";
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import type { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { isInScope, type Scope } from "../api/scope.ts";
import { Unclaimed } from "../controllers/unclaimed/unclaimed.ts";
import type { Events } from "../api/events.ts";
import type { Change } from "../kube/cache/change.ts";
import type { KubeApi } from "../kube/client/api.ts";
import { type Clock, systemClock } from "../kube/clock.ts";
import { Controller } from "../kube/controller/controller.ts";
import { from, type Source, toController, userEditsFirst } from "../kube/controller/source.ts";
import { keyOf, keyText } from "../kube/objects/objects.ts";
import type { RunningCache } from "../kube/process/manager.ts";
import type { RuntimeObserver } from "../kube/process/runtime-observer.ts";
import { Caches } from "./caches.ts";
import type { BackupContext } from "./context.ts";
import { BackupMetrics } from "./metrics.ts";
import { reconcileBackup } from "./reconcile.ts";

export interface BackupControllerOptions {
  readonly api: KubeApi;
  readonly scope: Scope;
  readonly events: Events;
  readonly observer: RuntimeObserver;
  /** The image of workers: the operator's own. Undefined while it is not known; it is asked for again. */
  readonly workerImage: () => string | undefined;
  readonly clock?: Clock;
  readonly now?: () => number;
  readonly random?: () => number;
}

export interface BackupController {
  readonly controller: Controller;
  readonly informers: readonly RunningCache[];
}

const name = "etcdbackup";
/** A reconcile waits for a few writes to Kubernetes and for nothing else. */
const workers = 4;

export function backupController(options: BackupControllerOptions): BackupController {
  const { api, scope, observer, clock = systemClock, now = Date.now, random } = options;
  const caches = new Caches(api, observer, scope, clock);
  const context: BackupContext = {
    caches: (namespace) => caches.of(namespace),
    isOurs: (backup) => isInScope(backup, scope),
    unclaimed: new Unclaimed({
      kind: EtcdBackup,
      scope: scope.t,
      lease: "etcd-backup-operator",
      events: options.events,
      now,
    }),
    workerImage: options.workerImage,
    events: options.events,
    metrics: new BackupMetrics(observer.metrics.registry),
    log: observer.log,
    now,
  };
  const controller = new Controller({
    name,
    sources: sourcesOf(caches),
    reconcile: (key, reconcile) => reconcileBackup(key, reconcile, context),
    workers,
    clock,
    ...(random !== undefined && { random }),
    observe: observer.controller(name),
  });
  observer.metrics.registry.onScrape(() => {
    if (!controller.runs) context.metrics.forgetAll();
  });
  return { controller, informers: caches.all };
}

const sourcesOf = ({ sets }: Caches): Source[] =>
  sets.flatMap(({ backups, pods, clusters }) => {
    const ofCluster = (cluster: EtcdCluster): string[] =>
      backups.store.byIndex("cluster", keyText(keyOf(cluster))).map((backup) => keyText(keyOf(backup)));
    return [
      from(backups, { priority: userEditsFirst }),
      from(pods, { toKeys: toController(EtcdBackup) }),
      from(clusters, { toKeys: ofCluster, filter: isReachedOtherwise }),
    ];
  });

/** The status of a cluster is written often, and seldom because its members are found elsewhere. */
function isReachedOtherwise(change: Change<EtcdCluster>): boolean {
  if (change.type !== "updated") return true;
  const { old, object } = change;
  return !isDeepStrictEqual([old.spec, old.status], [object.spec, object.status]);
}
