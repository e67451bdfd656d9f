// The caches of the controller: one set for the whole Kubernetes cluster or one for each namespace, nodes, which belong to
// none, and the Secrets that clusters name.
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import type { Scope } from "../api/scope.ts";
import type { KubeApi, Selection } from "../kube/client/api.ts";
import type { Clock } from "../kube/clock.ts";
import { Informer } from "../kube/cache/informer.ts";
import { Node, PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "../kube/objects/kinds.ts";
import type { RunningCache } from "../kube/process/manager.ts";
import { keyText, type Kind, type KubeObject } from "../kube/objects/objects.ts";
import type { RuntimeObserver } from "../kube/process/runtime-observer.ts";
import type { ClusterCaches } from "./context.ts";
import { GivenSecrets } from "./given-secrets.ts";
import { cachedLabels } from "./objects/labels.ts";
import { leanSecret } from "./objects/secrets.ts";
import { namedSecrets } from "./objects/tls.ts";
import { leanClaim } from "./observe/claims.ts";
import { leanNode, leanPod } from "./observe/pods.ts";

interface Informers {
  readonly clusters: Informer<EtcdCluster>;
  readonly pods: Informer<Pod>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly services: Informer<Service>;
  readonly budgets: Informer<PodDisruptionBudget>;
  /** Those that the operator makes. Clusters without TLS need none. */
  readonly secrets: Informer<Secret>;
  /** Read when a cluster is lost, to say what there is to restore. */
  readonly backups: Informer<EtcdBackup>;
}

export class Caches {
  readonly sets: readonly Informers[];
  /** A Role of one namespace cannot grant the right to see nodes, so it may be missing, come later and go again. */
  readonly nodes: Informer<Node>;
  /** Those that people make and clusters name. */
  readonly given: GivenSecrets;
  /** The empty namespace stands for all of them. */
  readonly #byNamespace: ReadonlyMap<string, Informers>;

  constructor(
    api: KubeApi,
    observer: RuntimeObserver,
    scope: Scope,
    clock: Clock,
    isOurs: (cluster: EtcdCluster) => boolean = () => true,
  ) {
    const informer = <T extends KubeObject>(
      kind: Kind<T>,
      selection: Selection,
      more: Pick<ConstructorParameters<typeof Informer<T>>[0], "transform" | "indexes" | "optional"> = {},
    ): Informer<T> => new Informer({ api, kind, selection, clock, observe: observer.informer(kind.kind), ...more });
    const informers = (selection: Selection): Informers => ({
      clusters: informer(EtcdCluster, selection),
      pods: informer(
        Pod,
        { ...selection, labelSelector: cachedLabels },
        { transform: leanPod, indexes: { node: nodeName } },
      ),
      claims: informer(
        PersistentVolumeClaim,
        { ...selection, labelSelector: cachedLabels },
        { transform: leanClaim, indexes: { cluster: clusterOfClaim } },
      ),
      services: informer(Service, { ...selection, labelSelector: cachedLabels }),
      budgets: informer(PodDisruptionBudget, { ...selection, labelSelector: cachedLabels }),
      secrets: informer(
        Secret,
        { ...selection, labelSelector: cachedLabels },
        { transform: leanSecret, optional: "clusters with spec.TLS are not looked after" },
      ),
      backups: informer(EtcdBackup, selection, {
        indexes: { cluster: clusterOfBackup },
        optional: "a cluster that is lost does not say which backup there is",
      }),
    });
    this.#byNamespace = new Map(
      scope.t === "clusterwide"
        ? [["", informers({})]]
        : scope.names.map((namespace) => [namespace, informers({ namespace })]),
    );
    this.sets = [...this.#byNamespace.values()];
    this.nodes = informer(
      Node,
      {},
      { transform: leanNode, optional: "a member on a lost node waits for Kubernetes to give up its pod" },
    );
    this.given = new GivenSecrets({
      api,
      clock,
      observe: observer.informer(Secret.kind),
      clusters: this.sets.map(({ clusters }) => clusters),
      namedBy: (cluster) => (isOurs(cluster) ? namedSecrets(cluster) : []),
    });
  }

  get all(): RunningCache[] {
    const namespaced = this.sets.flatMap(({ clusters, pods, claims, services, budgets, secrets, backups }) => [
      clusters,
      pods,
      claims,
      services,
      budgets,
      secrets,
      backups,
    ]);
    return [...namespaced, this.nodes, this.given];
  }

  of(namespace: string): ClusterCaches {
    const set = this.#byNamespace.get(namespace) ?? this.#byNamespace.get("");
    if (set === undefined) throw new RangeError(`the operator does not manage the namespace ${namespace}`);
    return {
      clusters: set.clusters.store,
      pods: set.pods.store,
      claims: set.claims.store,
      services: set.services.store,
      budgets: set.budgets.store,
      nodes: this.nodes.readable ? this.nodes.store : undefined,
      secrets: set.secrets.readable ? set.secrets.store : undefined,
      backups: set.backups.readable ? set.backups.store : undefined,
      given: this.given,
    };
  }
}

/** By name: a claim may outlive its EtcdCluster, and be found by another of that name. */
export function clusterOfClaim({ metadata }: PersistentVolumeClaim): string[] {
  const cluster = metadata?.labels?.["etcd_cluster"];
  return cluster === undefined ? [] : [keyText({ namespace: metadata?.namespace ?? "", name: cluster })];
}

function clusterOfBackup({ metadata, spec }: EtcdBackup): string[] {
  const name = spec?.clusterRef?.name;
  return name === undefined ? [] : [keyText({ namespace: metadata?.namespace ?? "", name })];
}

function nodeName(pod: Pod): string[] {
  const name = pod.spec?.nodeName;
  return name === undefined ? [] : [name];
}
