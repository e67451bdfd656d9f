// The controller of EtcdBackups.
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { type ControllerParts, type MadeController, makeController } from "../controllers/controller.ts";
import type { SharedContext } from "../controllers/context.ts";
import { backupCaches } from "./caches.ts";
import type { BackupCaches, BackupContext } from "./context.ts";
import { BackupMetrics } from "./metrics.ts";
import { reconcileBackup } from "./reconcile.ts";

export function backupController(parts: ControllerParts): MadeController<BackupContext> {
  const { registry } = parts.observer.metrics;
  const made = makeController(parts, {
    kind: EtcdBackup,
    lease: "etcd-backup-operator",
    // A reconcile waits for a few writes to Kubernetes and for nothing else.
    workers: 4,
    caches: backupCaches,
    context: (shared: SharedContext<EtcdBackup, BackupCaches>): BackupContext => ({
      ...shared,
      metrics: new BackupMetrics(registry),
    }),
    reconcile: reconcileBackup,
  });
  registry.onScrape(() => {
    if (!made.controller.runs) made.context.metrics.forgetAll();
  });
  return made;
}
