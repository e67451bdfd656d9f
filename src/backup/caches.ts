// The caches of the controller: EtcdBackups, the pods of their workers, and of EtcdClusters what a worker needs to reach
// them. All are optional: an operator without backups, or without permission to see them, works all the same.
import { isDeepStrictEqual } from "node:util";
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { type CacheOptions, CachesByScope, inItsNamespace, informersOf, readable } from "../controllers/caches.ts";
import { leanWorker } from "../controllers/worker.ts";
import type { Change } from "../kube/cache/change.ts";
import type { Informer } from "../kube/cache/informer.ts";
import { from, type Source, toController, userEditsFirst } from "../kube/controller/source.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { keyOf, keyText } from "../kube/objects/objects.ts";
import { workerLabels } from "../worker/pod.ts";
import type { BackupCaches } from "./context.ts";
import { defined } from "../defined.ts";

interface BackupInformers {
  /** By the index `cluster`, as namespace/name. */
  readonly backups: Informer<EtcdBackup>;
  readonly pods: Informer<Pod>;
  readonly clusters: Informer<EtcdCluster>;
}

const without = "EtcdBackups are not managed";

export function backupCaches(options: CacheOptions) {
  const informer = informersOf(options);
  return new CachesByScope<BackupInformers, BackupCaches>({
    scope: options.scope,
    informers: (selection) => ({
      backups: informer(EtcdBackup, selection, {
        indexes: { cluster: (backup) => inItsNamespace(backup, backup.spec?.clusterRef?.name) },
        optional: without,
      }),
      pods: informer(
        Pod,
        { ...selection, labelSelector: `app=${workerLabels.app}` },
        { transform: leanWorker, optional: without },
      ),
      clusters: informer(EtcdCluster, selection, {
        transform: leanCluster,
        optional: "EtcdBackups with spec.clusterRef wait",
      }),
    }),
    sources,
    read: ({ backups, pods, clusters }) => ({
      backups: backups.store,
      pods: readable(pods),
      clusters: readable(clusters),
    }),
  });
}

function sources({ backups, pods, clusters }: BackupInformers): Source[] {
  const ofCluster = (cluster: EtcdCluster): string[] =>
    backups.store.byIndex("cluster", keyText(keyOf(cluster))).map((backup) => keyText(keyOf(backup)));
  return [
    from(backups, { priority: userEditsFirst }),
    from(pods, { toKeys: toController(EtcdBackup) }),
    from(clusters, { toKeys: ofCluster, filter: isReachedOtherwise }),
  ];
}

/** The status of a cluster is written often, and seldom because its members are found elsewhere. */
function isReachedOtherwise(change: Change<EtcdCluster>): boolean {
  if (change.type !== "updated") return true;
  const { old, object } = change;
  return !isDeepStrictEqual([old.spec, old.status], [object.spec, object.status]);
}

/** The controller of clusters keeps all of them; here it is only how they are reached. */
function leanCluster({ metadata, spec, status, ...kind }: EtcdCluster): EtcdCluster {
  const { clientEndpoints, restore } = status ?? {};
  const { annotations: _, labels: __, ...rest } = metadata ?? {};
  const { TLS, auth, image, repository, version, pod, size } = spec ?? {};
  const domain = pod?.ClusterDomain;
  return {
    ...kind,
    metadata: rest,
    spec: {
      size,
      ...defined({ TLS, auth, image, repository, version }),
      ...(domain !== undefined && { pod: { ClusterDomain: domain } }),
    },
    status: {
      ...(clientEndpoints !== undefined && { clientEndpoints }),
      ...(restore !== undefined && { restore: { name: restore.name, uid: restore.uid, phase: restore.phase } }),
    },
  };
}
