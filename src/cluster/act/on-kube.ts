// What is done to Kubernetes, one function an action. Each write has a precondition or is a server-side apply under one
// name, and nothing of somebody else's is taken over.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { fieldManager } from "../../api/field-manager.ts";
import { isAlreadyExists } from "../../kube/client/errors.ts";
import { Pod, PodDisruptionBudget, Service } from "../../kube/objects/kinds.ts";
import { type Kind, type KubeObject, keyOf } from "../../kube/objects/objects.ts";
import { controllerOf, isControlledBy } from "../../kube/objects/owners.ts";
import type { StoreView } from "../../kube/cache/store.ts";
import type { Action } from "../plan/actions.ts";
import { listForJoining } from "./on-etcd.ts";
import { disruptionBudget } from "../objects/budget.ts";
import { memberPod } from "../objects/member-pod.ts";
import { NotYet, Refused, whileCacheIsBehindMs } from "./outcome.ts";
import { giveItsLabels } from "../objects/pod-labels.ts";
import { isKnownToHaveServed } from "../plan/safety.ts";
import { clientService, peerService } from "../objects/services.ts";
import type { Turn } from "./turn.ts";

type Of<D extends Action["do"]> = Extract<Action, { do: D }>;

export async function applyServices(turn: Turn): Promise<void> {
  const { services } = cachesOf(turn);
  await Promise.all(
    [peerService(turn.cluster), clientService(turn.cluster)].map((service) => apply(turn, Service, service, services)),
  );
}

export async function applyBudget(turn: Turn, { minAvailable }: Of<"applyBudget">): Promise<void> {
  const { budgets } = cachesOf(turn);
  await apply(turn, PodDisruptionBudget, disruptionBudget(turn.cluster, minAvailable), budgets);
}

export async function labelPod({ pass, cluster }: Turn, { member, uid }: Of<"labelPod">): Promise<void> {
  await giveItsLabels(pass.api, cluster, { name: member, uid });
}

/** What is not known to be the cluster's own is made, never taken over: then the server says whose it is. */
async function apply<T extends KubeObject>(
  { cluster, pass }: Turn,
  kind: Kind<T>,
  object: T,
  cache: StoreView<T>,
): Promise<void> {
  const known = cache.get(keyOf(object));
  if (known === undefined || !isControlledBy(known, cluster)) {
    try {
      await pass.api.create(kind, object, { fieldManager });
      return;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    requireOwn(kind, await pass.api.get(kind, keyOf(object)), cluster);
  }
  await pass.api.apply(kind, object, { fieldManager, force: true });
}

function requireOwn(kind: Kind<KubeObject>, present: KubeObject, cluster: EtcdCluster): void {
  if (isControlledBy(present, cluster)) return;
  const { name } = keyOf(present);
  const owner = controllerOf(present);
  // What a cluster of the same name left behind goes by itself; what a person or another cluster has does not.
  if (owner?.kind === EtcdCluster.kind && owner.name === cluster.metadata?.name)
    throw new NotYet(`the ${kind.kind} ${name} of an earlier cluster is still there`, 1000);
  if (owner?.kind === EtcdCluster.kind)
    throw new Refused(
      `the ${kind.kind} ${name} belongs to the EtcdCluster ${owner.name}: two clusters cannot share it. Delete this one and make it under another name.`,
    );
  throw new Refused(
    `a ${kind.kind} named ${name} exists and is not the cluster's: delete it, or name the cluster differently.`,
  );
}

/**
 * Two seeds would be two clusters, so the cache is not believed: the API server says whether the cluster has an id. A
 * second pod of the seed's name it does not take, and the name is the same for the same cluster.
 */
export async function createSeed(turn: Turn, { member }: Of<"createSeed">): Promise<void> {
  await confirmNeverServed(turn);
  await turn.pass.api.create(Pod, memberPod(turn.cluster, member, { as: "seed" }), { fieldManager });
}

async function confirmNeverServed({ pass, cluster }: Turn): Promise<void> {
  const live = await pass.api.get(EtcdCluster, keyOf(cluster));
  if (live.metadata?.uid !== cluster.metadata.uid || isKnownToHaveServed(live.status ?? {}))
    throw new NotYet("the EtcdCluster has changed since it was looked at", whileCacheIsBehindMs);
}

export async function createPod(turn: Turn, { member }: Of<"createPod">): Promise<void> {
  const members = listForJoining(turn, member);
  await turn.pass.api.create(Pod, memberPod(turn.cluster, member, { as: "joining", members }), { fieldManager });
}

/** One that is gone already is no success: the cache shows it still, and would have it deleted again and again. */
export async function deletePod(turn: Turn, { member, uid, force, unlessServed }: Of<"deletePod">): Promise<void> {
  if (unlessServed === true) await confirmNeverServed(turn);
  const key = { namespace: turn.cluster.metadata.namespace, name: member };
  await turn.pass.api.delete(Pod, key, { uid, ...(force ? { gracePeriodSeconds: 0 } : {}) });
}

export async function latchClusterId(turn: Turn, { clusterId }: Of<"latchClusterId">): Promise<void> {
  turn.written = await turn.pass.api.mergePatch(
    EtcdCluster,
    keyOf(turn.cluster),
    { metadata: { resourceVersion: turn.cluster.metadata.resourceVersion }, status: { clusterId, phase: "Running" } },
    { subresource: "status", fieldManager },
  );
}

function cachesOf({ cluster, context }: Turn) {
  return context.caches(cluster.metadata.namespace);
}
