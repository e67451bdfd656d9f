// The caches of the controller: EtcdRestores, their workers, and of EtcdClusters and EtcdBackups whether they change. None is
// needed to manage clusters, so all of them may be forbidden or lack their CRD.
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import { type CacheOptions, CachesByScope, inItsNamespace, informersOf } from "../controllers/caches.ts";
import type { Informer } from "../kube/cache/informer.ts";
import { from, type Source, toController, userEditsFirst } from "../kube/controller/source.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { type KubeObject, keyOf, keyText } from "../kube/objects/objects.ts";
import { workerLabels } from "../worker/pod.ts";
import type { RestoreCaches } from "./context.ts";

interface RestoreInformers {
  /** By the indexes `cluster` and `backup`, as namespace/name: those that name them. */
  readonly restores: Informer<EtcdRestore>;
  /** What is decided from is read live: of these only the news count, and little is kept. */
  readonly backups: Informer<EtcdBackup>;
  readonly clusters: Informer<EtcdCluster>;
  readonly pods: Informer<Pod>;
}

const optional = "EtcdRestores are not carried out";

export function restoreCaches(options: CacheOptions) {
  const informer = informersOf(options);
  return new CachesByScope<RestoreInformers, RestoreCaches>({
    scope: options.scope,
    informers: (selection) => ({
      restores: informer(EtcdRestore, selection, {
        indexes: {
          cluster: (restore) => inItsNamespace(restore, restore.spec?.etcdCluster?.name),
          backup: (restore) => inItsNamespace(restore, restore.spec?.backup?.name),
        },
        optional,
      }),
      backups: informer(EtcdBackup, selection, {
        transform: ({ metadata = {} }) => ({ metadata, spec: none.backup }),
        optional,
      }),
      clusters: informer(EtcdCluster, selection, {
        transform: ({ metadata = {} }) => ({ metadata, spec: none.cluster }),
        optional,
      }),
      pods: informer(Pod, { ...selection, labelSelector: `app=${workerLabels.app},etcd_restore` }, { optional }),
    }),
    sources,
    read: ({ restores, clusters, pods }) => ({ restores: restores.store, clusters: clusters.store, pods: pods.store }),
  });
}

/** In place of specs that nobody reads. */
const none = { backup: { storageType: "S3" }, cluster: { size: 0 } } as const;

function sources({ restores, backups, clusters, pods }: RestoreInformers): Source[] {
  const naming = (index: "cluster" | "backup") => (object: KubeObject) =>
    restores.store.byIndex(index, keyText(keyOf(object))).map((restore) => keyText(keyOf(restore)));
  return [
    from(restores, { priority: userEditsFirst }),
    from(pods, { toKeys: toController(EtcdRestore) }),
    from(clusters, { toKeys: naming("cluster") }),
    from(backups, { toKeys: naming("backup") }),
  ];
}
