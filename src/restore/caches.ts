// The caches of the restore controller: one set for the whole Kubernetes cluster or one for each namespace. None is needed to
// look after clusters, so all of them may be forbidden or lack their definition.
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import type { Scope } from "../api/scope.ts";
import { Informer } from "../kube/cache/informer.ts";
import type { IndexFunction } from "../kube/cache/store.ts";
import type { KubeApi, Selection } from "../kube/client/api.ts";
import type { Clock } from "../kube/clock.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { type Kind, type KubeObject, keyText } from "../kube/objects/objects.ts";
import type { RunningCache } from "../kube/process/manager.ts";
import type { RuntimeObserver } from "../kube/process/runtime-observer.ts";
import { workerLabels } from "../worker/pod.ts";
import type { RestoreCaches } from "./context.ts";

interface Informers {
  /** By the indexes `cluster` and `backup`, as namespace/name: those that name them. */
  readonly restores: Informer<EtcdRestore>;
  /** What is decided from is read live: of these only the news count, and little is kept. */
  readonly backups: Informer<EtcdBackup>;
  readonly clusters: Informer<EtcdCluster>;
  readonly pods: Informer<Pod>;
}

const optional = "EtcdRestores are not carried out";

interface More<T extends KubeObject> {
  readonly transform?: (object: T) => T;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
}

export class Caches {
  readonly sets: readonly Informers[];
  /** The empty namespace stands for all of them. */
  readonly #byNamespace: ReadonlyMap<string, Informers>;

  constructor(api: KubeApi, observer: RuntimeObserver, scope: Scope, clock: Clock) {
    const informer = <T extends KubeObject>(kind: Kind<T>, selection: Selection, more: More<T> = {}): Informer<T> =>
      new Informer({ api, kind, selection, clock, observe: observer.informer(kind.kind), optional, ...more });
    const informers = (selection: Selection): Informers => ({
      restores: informer(EtcdRestore, selection, {
        indexes: {
          cluster: (restore) => inItsNamespace(restore, restore.spec?.etcdCluster?.name),
          backup: (restore) => inItsNamespace(restore, restore.spec?.backup?.name),
        },
      }),
      backups: informer(EtcdBackup, selection, { transform: ({ metadata = {} }) => ({ metadata, spec: none.backup }) }),
      clusters: informer(EtcdCluster, selection, {
        transform: ({ metadata = {} }) => ({ metadata, spec: none.cluster }),
      }),
      pods: informer(Pod, { ...selection, labelSelector: `app=${workerLabels.app},etcd_restore` }),
    });
    this.#byNamespace = new Map(
      scope.t === "clusterwide"
        ? [["", informers({})]]
        : scope.names.map((namespace) => [namespace, informers({ namespace })]),
    );
    this.sets = [...this.#byNamespace.values()];
  }

  get all(): RunningCache[] {
    return this.sets.flatMap(({ restores, backups, clusters, pods }) => [restores, backups, clusters, pods]);
  }

  of(namespace: string): RestoreCaches {
    const set = this.#byNamespace.get(namespace) ?? this.#byNamespace.get("");
    if (set === undefined) throw new RangeError(`the operator does not manage the namespace ${namespace}`);
    return { restores: set.restores.store, clusters: set.clusters.store, pods: set.pods.store };
  }
}

/** In place of specs that nobody reads. */
const none = { backup: { storageType: "S3" }, cluster: { size: 0 } } as const;

function inItsNamespace({ metadata }: KubeObject, name: string | undefined): string[] {
  return name === undefined ? [] : [keyText({ namespace: metadata?.namespace ?? "", name })];
}
