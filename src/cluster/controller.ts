// The controller of EtcdClusters: which changes requeue a cluster, and how many are reconciled side by side.
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { isInScope, type Scope } from "../api/scope.ts";
import { Unclaimed } from "../controllers/unclaimed/unclaimed.ts";
import type { Events } from "../api/events.ts";
import { presentedCertificate } from "../etcd/presented-certificate.ts";
import type { KubeApi } from "../kube/client/api.ts";
import type { Change } from "../kube/cache/change.ts";
import { type Clock, systemClock } from "../kube/clock.ts";
import { Controller } from "../kube/controller/controller.ts";
import type { Node, Pod } from "../kube/objects/kinds.ts";
import type { RunningCache } from "../kube/process/manager.ts";
import type { RuntimeObserver } from "../kube/process/runtime-observer.ts";
import { from, userEditsFirst, type Source, toController } from "../kube/controller/source.ts";
import { makeAuthority, makeLeaf } from "../tls/make.ts";
import { Caches, clusterOfClaim } from "./caches.ts";
import type { ClusterContext, MemberPool, Signer } from "./context.ts";
import { ClusterMetrics } from "./metrics.ts";
import { isImageCheck } from "./objects/image-check.ts";
import { Logins } from "./observe/login.ts";
import { RefusedUpkeep } from "./act/refused-upkeep.ts";
import { TakenAway } from "./act/taken-away.ts";
import { Progress } from "./observe/progress.ts";
import { type Presenter, Wire } from "./observe/wire.ts";
import { reconcileCluster } from "./reconcile.ts";

export interface ClusterControllerOptions {
  readonly api: KubeApi;
  readonly scope: Scope;
  readonly members: MemberPool;
  /** Looks which certificate a member presents. */
  readonly presenter?: Presenter;
  readonly signer?: Signer;
  readonly events: Events;
  readonly observer: RuntimeObserver;
  /** Makes the data of a restored member. */
  readonly workerImage?: () => string | undefined;
  readonly clock?: Clock;
  readonly now?: () => number;
}

export interface ClusterController {
  readonly controller: Controller;
  readonly informers: readonly RunningCache[];
  /** The pods of the managed clusters, as they are now. */
  readonly pods: () => readonly Pod[];
}

const name = "etcdcluster";
/** A reconcile waits for members most of the time, so many run side by side. */
const workers = 16;

export function clusterController(options: ClusterControllerOptions): ClusterController {
  const { api, scope, observer, clock = systemClock, now = Date.now } = options;
  const isOurs = (cluster: EtcdCluster): boolean => isInScope(cluster, scope);
  const caches = new Caches(api, observer, scope, clock, isOurs);
  const context: ClusterContext = {
    caches: (namespace) => caches.of(namespace),
    members: options.members,
    logins: new Logins(now),
    progress: new Progress(),
    wire: new Wire(options.presenter ?? presentedCertificate),
    signer: options.signer ?? { makeAuthority, makeLeaf },
    refusedUpkeep: new RefusedUpkeep(),
    takenAway: new TakenAway(),
    workerImage: options.workerImage ?? (() => undefined),
    isOurs,
    unclaimed: new Unclaimed({
      kind: EtcdCluster,
      scope: scope.t,
      lease: "etcd-operator",
      events: options.events,
      now,
    }),
    events: options.events,
    metrics: new ClusterMetrics(observer.metrics.registry),
    log: observer.log,
    now,
  };
  const controller = new Controller({
    name,
    sources: sourcesOf(caches),
    reconcile: (key, reconcile) => reconcileCluster(key, reconcile, context),
    workers,
    clock,
    observe: observer.controller(name),
  });
  countClusters(caches, context, observer, controller);
  return { controller, informers: caches.all, pods: () => podsInScope(caches, context) };
}

function podsInScope({ sets }: Caches, { isOurs }: ClusterContext): Pod[] {
  return sets.flatMap(({ clusters, pods }) =>
    [...clusters.store.values()]
      .filter(isOurs)
      .flatMap(({ metadata }) => pods.store.ownedBy(metadata?.uid ?? "").filter((pod) => !isImageCheck(pod))),
  );
}

function sourcesOf({ sets, nodes, given }: Caches): Source[] {
  const toCluster = toController(EtcdCluster);
  const namespaced = sets.flatMap(({ clusters, pods, claims, services, budgets, secrets }) => [
    from(clusters, { priority: userEditsFirst }),
    from(pods, { toKeys: toCluster }),
    from(claims, { toKeys: clusterOfClaim }),
    from(services, { toKeys: toCluster }),
    from(budgets, { toKeys: toCluster }),
    from(secrets, { toKeys: toCluster }),
  ]);
  const onNode = (node: Node): string[] =>
    sets.flatMap(({ pods }) => pods.store.byIndex("node", node.metadata?.name ?? "").flatMap(toCluster));
  return [...namespaced, from(nodes, { toKeys: onNode, filter: readinessChanged }), given];
}

/** Nodes are written often, and seldom because their readiness changed. */
function readinessChanged(change: Change<Node>): boolean {
  if (change.type !== "updated") return true;
  const ready = (node: Node): string | undefined => node.status?.conditions?.[0]?.status;
  return ready(change.old) !== ready(change.object);
}

/** Counted by the leader only: with the standbys, sums over all pods would be wrong. */
function countClusters(
  { sets }: Caches,
  { metrics, isOurs }: ClusterContext,
  observer: RuntimeObserver,
  controller: Controller,
): void {
  for (const { clusters } of sets) {
    clusters.subscribe((change) => {
      if (!controller.runs || !isOurs(change.object)) return;
      if (change.type === "deleted") metrics.deleted.add();
      else if (change.type === "added" && !change.initial) metrics.created.add();
      else if (change.type === "updated" && isEdit(change.old, change.object)) metrics.modified.add();
    });
  }
  observer.metrics.registry.onScrape(() => {
    const count = sets.flatMap(({ clusters }) => [...clusters.store.values()]).filter(isOurs).length;
    metrics.clusters.set({}, controller.runs ? count : 0);
    if (!controller.runs) metrics.forgetAll();
  });
}

const isEdit = (before: EtcdCluster, after: EtcdCluster): boolean =>
  before.metadata?.generation !== after.metadata?.generation;
