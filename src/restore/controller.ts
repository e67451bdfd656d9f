// The controller of EtcdRestores.
import { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import { type ControllerParts, type MadeController, makeController } from "../controllers/controller.ts";
import type { SharedContext } from "../controllers/context.ts";
import { restoreCaches } from "./caches.ts";
import type { RestoreCaches, RestoreContext } from "./context.ts";
import { RestoreMetrics } from "./metrics.ts";
import { reconcileRestore } from "./reconcile.ts";

export const restoreController = (parts: ControllerParts): MadeController<RestoreContext> =>
  makeController(parts, {
    kind: EtcdRestore,
    lease: "etcd-restore-operator",
    workers: 4,
    caches: restoreCaches,
    context: (shared: SharedContext<EtcdRestore, RestoreCaches>): RestoreContext => ({
      ...shared,
      metrics: new RestoreMetrics(parts.observer.metrics.registry),
    }),
    reconcile: reconcileRestore,
  });
