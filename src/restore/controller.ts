// The controller of EtcdRestores: which changes requeue one, and how many are reconciled side by side.
import { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import type { Scope } from "../api/scope.ts";
import { Unclaimed } from "../controllers/unclaimed/unclaimed.ts";
import type { Events } from "../api/events.ts";
import type { StoreView } from "../kube/cache/store.ts";
import type { KubeApi } from "../kube/client/api.ts";
import { type Clock, systemClock } from "../kube/clock.ts";
import { Controller } from "../kube/controller/controller.ts";
import { from, type Source, toController, userEditsFirst } from "../kube/controller/source.ts";
import { type KubeObject, keyOf, keyText } from "../kube/objects/objects.ts";
import type { RunningCache } from "../kube/process/manager.ts";
import type { RuntimeObserver } from "../kube/process/runtime-observer.ts";
import { Caches } from "./caches.ts";
import type { RestoreContext } from "./context.ts";
import { RestoreMetrics } from "./metrics.ts";
import { reconcileRestore } from "./reconcile.ts";

export interface RestoreControllerOptions {
  readonly api: KubeApi;
  readonly scope: Scope;
  readonly events: Events;
  readonly observer: RuntimeObserver;
  /** The operator's own image, which workers run; undefined while it is not known. */
  readonly workerImage: () => string | undefined;
  readonly clock?: Clock;
  readonly now?: () => number;
}

export interface RestoreController {
  readonly controller: Controller;
  readonly informers: readonly RunningCache[];
}

const name = "etcdrestore";
const workers = 4;

export function restoreController(options: RestoreControllerOptions): RestoreController {
  const { api, scope, observer, workerImage, events, clock = systemClock, now = Date.now } = options;
  const caches = new Caches(api, observer, scope, clock);
  const context: RestoreContext = {
    caches: (namespace) => caches.of(namespace),
    scope: scope.t,
    unclaimed: new Unclaimed({ kind: EtcdRestore, scope: scope.t, lease: "etcd-restore-operator", events, now }),
    workerImage,
    events,
    metrics: new RestoreMetrics(observer.metrics.registry),
    log: observer.log,
    now,
  };
  const controller = new Controller({
    name,
    sources: sourcesOf(caches),
    reconcile: (key, reconcile) => reconcileRestore(key, reconcile, context),
    workers,
    clock,
    observe: observer.controller(name),
  });
  return { controller, informers: caches.all };
}

function sourcesOf({ sets }: Caches): Source[] {
  return sets.flatMap(({ restores, backups, clusters, pods }) => [
    from(restores, { priority: userEditsFirst }),
    from(pods, { toKeys: toController(EtcdRestore) }),
    from(clusters, { toKeys: naming(restores.store, "cluster") }),
    from(backups, { toKeys: naming(restores.store, "backup") }),
  ]);
}

/** The EtcdRestores that name the object. */
function naming(restores: StoreView<EtcdRestore>, index: "cluster" | "backup"): (object: KubeObject) => string[] {
  return (object) => restores.byIndex(index, keyText(keyOf(object))).map((restore) => keyText(keyOf(restore)));
}
