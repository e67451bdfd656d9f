// The controller of EtcdClusters: what its reconciles share beyond the others', and how many clusters there are.
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { type ControllerParts, type MadeController, makeController } from "../controllers/controller.ts";
import type { SharedContext } from "../controllers/context.ts";
import { presentedCertificate } from "../etcd/presented-certificate.ts";
import type { Pod } from "../kube/objects/kinds.ts";
import type { Registry } from "../kube/process/metrics.ts";
import { makeAuthority, makeLeaf } from "../tls/make.ts";
import { RefusedUpkeep } from "./act/refused-upkeep.ts";
import { TakenAway } from "./act/taken-away.ts";
import { type AllClusterCaches, clusterCaches } from "./caches.ts";
import type { ClusterCaches, ClusterContext, MemberPool, Signer } from "./context.ts";
import { ClusterMetrics } from "./metrics.ts";
import { isImageCheck } from "./objects/image-check.ts";
import { selectorOf } from "./objects/labels.ts";
import { Logins } from "./observe/login.ts";
import { Progress } from "./observe/progress.ts";
import { type Presenter, Wire } from "./observe/wire.ts";
import { reconcileCluster } from "./reconcile.ts";

interface ClusterControllerParts extends ControllerParts {
  readonly members: MemberPool;
  readonly presenter?: Presenter;
  readonly signer?: Signer;
}

type Made = MadeController<ClusterContext, AllClusterCaches>;

interface ClusterController extends Made {
  /** The pods of the managed clusters, as they are now. */
  readonly pods: () => readonly Pod[];
}

export function clusterController(parts: ClusterControllerParts): ClusterController {
  const { members, presenter = presentedCertificate, signer = { makeAuthority, makeLeaf } } = parts;
  const { registry } = parts.observer.metrics;
  const made = makeController(parts, {
    kind: EtcdCluster,
    lease: "etcd-operator",
    // A reconcile waits for members most of the time, so many run side by side.
    workers: 16,
    podsOf: (name) => selectorOf({ metadata: { name } }),
    caches: clusterCaches,
    context: (shared: SharedContext<EtcdCluster, ClusterCaches>): ClusterContext => ({
      ...shared,
      members,
      logins: new Logins(shared.now),
      progress: new Progress(),
      wire: new Wire(presenter),
      signer,
      refusedUpkeep: new RefusedUpkeep(),
      takenAway: new TakenAway(),
      metrics: new ClusterMetrics(registry),
    }),
    reconcile: reconcileCluster,
  });
  countClusters(made, registry);
  return { ...made, pods: () => podsIn(made) };
}

function podsIn({ caches: { sets }, context: { isOurs } }: Made): Pod[] {
  return sets.flatMap(({ clusters, pods }) =>
    [...clusters.store.values()]
      .filter(isOurs)
      .flatMap(({ metadata }) => pods.store.ownedBy(metadata?.uid ?? "").filter((pod) => !isImageCheck(pod))),
  );
}

/** Counted by the leader only: with the standbys, sums over all pods would be wrong. */
function countClusters({ controller, caches: { sets }, context: { metrics, isOurs } }: Made, registry: Registry): void {
  for (const { clusters } of sets) {
    clusters.subscribe((change) => {
      if (!controller.runs || !isOurs(change.object)) return;
      if (change.type === "deleted") metrics.deleted.add();
      else if (change.type === "added" && !change.initial) metrics.created.add();
      else if (change.type === "updated" && isEdit(change.old, change.object)) metrics.modified.add();
    });
  }
  registry.onScrape(() => {
    const count = sets.flatMap(({ clusters }) => [...clusters.store.values()]).filter(isOurs).length;
    metrics.clusters.set({}, controller.runs ? count : 0);
    if (!controller.runs) metrics.forgetAll();
  });
}

const isEdit = (before: EtcdCluster, after: EtcdCluster): boolean =>
  before.metadata?.generation !== after.metadata?.generation;
