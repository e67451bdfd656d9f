// The caches of the controller: one set for the whole Kubernetes cluster or one for each namespace, nodes, which belong to
// none, and the Secrets that clusters name.
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { isInScope } from "../api/scope.ts";
import { type CacheOptions, CachesByScope, inItsNamespace, informersOf, readable } from "../controllers/caches.ts";
import type { Change } from "../kube/cache/change.ts";
import type { Informer } from "../kube/cache/informer.ts";
import { from, type Source, toController, userEditsFirst } from "../kube/controller/source.ts";
import { Node, PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "../kube/objects/kinds.ts";
import type { ClusterCaches } from "./context.ts";
import { GivenSecrets } from "./given-secrets.ts";
import { cachedLabels } from "./objects/labels.ts";
import { leanSecret } from "./objects/secrets.ts";
import { namedSecrets } from "./objects/tls.ts";
import { leanClaim } from "./observe/claims.ts";
import { leanNode, leanPod } from "./observe/pods.ts";

interface ClusterInformers {
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

export type AllClusterCaches = ReturnType<typeof clusterCaches>;

export function clusterCaches(options: CacheOptions) {
  const { api, clock, observer, scope } = options;
  const informer = informersOf(options);
  // A Role of one namespace cannot permit seeing nodes, so they may be forbidden, come later and go again.
  const nodes = informer(
    Node,
    {},
    { transform: leanNode, optional: "a member on a lost node waits for Kubernetes to give up its pod" },
  );
  const byScope = new CachesByScope<ClusterInformers, Omit<ClusterCaches, "given">>({
    scope,
    informers: (selection) => {
      const labelled = { ...selection, labelSelector: cachedLabels };
      return {
        clusters: informer(EtcdCluster, selection),
        pods: informer(Pod, labelled, { transform: leanPod, indexes: { node: nodeName } }),
        claims: informer(PersistentVolumeClaim, labelled, {
          transform: leanClaim,
          indexes: { cluster: clusterOfClaim },
        }),
        services: informer(Service, labelled),
        budgets: informer(PodDisruptionBudget, labelled),
        secrets: informer(Secret, labelled, {
          transform: leanSecret,
          optional: "clusters with spec.TLS are not managed",
        }),
        backups: informer(EtcdBackup, selection, {
          indexes: { cluster: (backup) => inItsNamespace(backup, backup.spec?.clusterRef?.name) },
          optional: "a cluster that is lost does not say which backup there is",
        }),
      };
    },
    sources,
    read: ({ clusters, pods, claims, services, budgets, secrets, backups }) => ({
      clusters: clusters.store,
      pods: pods.store,
      claims: claims.store,
      services: services.store,
      budgets: budgets.store,
      nodes: readable(nodes),
      secrets: readable(secrets),
      backups: readable(backups),
    }),
  });
  const { sets } = byScope;
  const given = new GivenSecrets({
    api,
    clock,
    observe: observer.informer(Secret.kind),
    clusters: sets.map(({ clusters }) => clusters),
    namedBy: (cluster) => (isInScope(cluster, scope) ? namedSecrets(cluster) : []),
  });
  const onNode = (node: Node): string[] =>
    sets.flatMap(({ pods }) => pods.store.byIndex("node", node.metadata?.name ?? "").flatMap(toCluster));
  return {
    sets,
    all: [...byScope.all, nodes, given],
    sources: [...byScope.sources, from(nodes, { toKeys: onNode, filter: readinessChanged }), given],
    of: (namespace: string): ClusterCaches => ({ ...byScope.of(namespace), given }),
  };
}

const toCluster = toController(EtcdCluster);

function sources({ clusters, pods, claims, services, budgets, secrets }: ClusterInformers): Source[] {
  return [
    from(clusters, { priority: userEditsFirst }),
    from(pods, { toKeys: toCluster }),
    from(claims, { toKeys: clusterOfClaim }),
    from(services, { toKeys: toCluster }),
    from(budgets, { toKeys: toCluster }),
    from(secrets, { toKeys: toCluster }),
  ];
}

/** Nodes are written often, and seldom because their readiness changed. */
function readinessChanged(change: Change<Node>): boolean {
  if (change.type !== "updated") return true;
  const ready = (node: Node): string | undefined => node.status?.conditions?.[0]?.status;
  return ready(change.old) !== ready(change.object);
}

/** By name: a claim may outlive its EtcdCluster, and be found by another of that name. */
const clusterOfClaim = (claim: PersistentVolumeClaim): string[] =>
  inItsNamespace(claim, claim.metadata?.labels?.["etcd_cluster"]);

function nodeName(pod: Pod): string[] {
  const name = pod.spec?.nodeName;
  return name === undefined ? [] : [name];
}
