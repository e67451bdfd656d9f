// The caches of the controller: EtcdBackups, the pods of their workers, and of EtcdClusters what a worker needs to reach
// them. All are optional: an operator without backups, or without the right to see them, works all the same.
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import type { Scope } from "../api/scope.ts";
import { Informer } from "../kube/cache/informer.ts";
import type { KubeApi, Selection } from "../kube/client/api.ts";
import type { Clock } from "../kube/clock.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { type Kind, type KubeObject, keyText } from "../kube/objects/objects.ts";
import type { RunningCache } from "../kube/process/manager.ts";
import type { RuntimeObserver } from "../kube/process/runtime-observer.ts";
import { workerLabels } from "../worker/pod.ts";
import type { BackupCaches } from "./context.ts";
import { leanWorker } from "./observe/worker.ts";

interface Informers {
  /** By the index `cluster`, as namespace/name. */
  readonly backups: Informer<EtcdBackup>;
  readonly pods: Informer<Pod>;
  readonly clusters: Informer<EtcdCluster>;
}

const without = "EtcdBackups are not looked after";

export class Caches {
  readonly sets: readonly Informers[];
  /** The empty namespace stands for all of them. */
  readonly #byNamespace: ReadonlyMap<string, Informers>;

  constructor(api: KubeApi, observer: RuntimeObserver, scope: Scope, clock: Clock) {
    const informer = <T extends KubeObject>(
      kind: Kind<T>,
      selection: Selection,
      more: Pick<ConstructorParameters<typeof Informer<T>>[0], "transform" | "indexes" | "optional">,
    ): Informer<T> => new Informer({ api, kind, selection, clock, observe: observer.informer(kind.kind), ...more });
    const informers = (selection: Selection): Informers => ({
      backups: informer(EtcdBackup, selection, { indexes: { cluster: clusterOf }, optional: without }),
      pods: informer(
        Pod,
        { ...selection, labelSelector: `app=${workerLabels.app}` },
        { transform: leanWorker, optional: without },
      ),
      clusters: informer(EtcdCluster, selection, {
        transform: leanCluster,
        optional: "EtcdBackups with spec.clusterRef wait",
      }),
    });
    this.#byNamespace = new Map(
      scope.t === "clusterwide"
        ? [["", informers({})]]
        : scope.names.map((namespace) => [namespace, informers({ namespace })]),
    );
    this.sets = [...this.#byNamespace.values()];
  }

  get all(): RunningCache[] {
    return this.sets.flatMap(({ backups, pods, clusters }) => [backups, pods, clusters]);
  }

  of(namespace: string): BackupCaches {
    const set = this.#byNamespace.get(namespace) ?? this.#byNamespace.get("");
    if (set === undefined) throw new RangeError(`the operator does not manage the namespace ${namespace}`);
    return {
      backups: set.backups.store,
      pods: set.pods.readable ? set.pods.store : undefined,
      clusters: set.clusters.readable ? set.clusters.store : undefined,
    };
  }
}

/** The EtcdCluster that is backed up. */
function clusterOf({ metadata, spec }: EtcdBackup): string[] {
  const name = spec?.clusterRef?.name;
  return name === undefined ? [] : [keyText({ namespace: metadata?.namespace ?? "", name })];
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
      ...(TLS !== undefined && { TLS }),
      ...(auth !== undefined && { auth }),
      ...(image !== undefined && { image }),
      ...(repository !== undefined && { repository }),
      ...(version !== undefined && { version }),
      ...(domain !== undefined && { pod: { ClusterDomain: domain } }),
    },
    status: {
      ...(clientEndpoints !== undefined && { clientEndpoints }),
      ...(restore !== undefined && { restore: { name: restore.name, uid: restore.uid, phase: restore.phase } }),
    },
  };
}
