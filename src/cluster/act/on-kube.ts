// What is done to Kubernetes, one function an action. Each write has a precondition or is a server-side apply under one
// name, and nothing of somebody else's is taken over.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { fieldManager } from "../../api/field-manager.ts";
import type { StoreView } from "../../kube/cache/store.ts";
import { isAlreadyExists } from "../../kube/client/errors.ts";
import { Pod, PodDisruptionBudget, Service } from "../../kube/objects/kinds.ts";
import { type Kind, type KubeObject, keyOf } from "../../kube/objects/objects.ts";
import { controllerOf, isControlledBy } from "../../kube/objects/owners.ts";
import { guardAnnotations } from "../objects/first-start.ts";
import { etcdContainer, memberPod, settingsAnnotation } from "../objects/member-pod.ts";
import type { MemberName } from "../objects/names.ts";
import { labelsOf } from "../objects/labels.ts";
import { resized } from "../objects/resources.ts";
import { clientService, disruptionBudget, peerService } from "../objects/services.ts";
import { schemeOf } from "../objects/tls.ts";
import type { ActionOf } from "../plan/actions.ts";
import { type ClusterExecution, listedUrlOf, patchPod, quotaOfNew, tlsToMake, writeStatus } from "./execution.ts";
import { makeClaim } from "./on-claims.ts";
import { joiningPod } from "./joining-pod.ts";
import { listForJoining } from "./on-etcd.ts";
import { seedStart } from "./on-restore.ts";
import { podNow } from "./preconditions.ts";
import { makePod } from "./taken-away.ts";
import { delays } from "../../controllers/delays.ts";
import { NotYet, Refused } from "../../controllers/obstacle.ts";

export async function applyService(execution: ClusterExecution, { service }: ActionOf<"applyService">): Promise<void> {
  const make = service === "peer" ? peerService : clientService;
  await apply(execution, Service, make(execution.cluster), cachesOf(execution).services);
}

export async function applyBudget(
  execution: ClusterExecution,
  { minAvailable }: ActionOf<"applyBudget">,
): Promise<void> {
  const { budgets } = cachesOf(execution);
  await apply(execution, PodDisruptionBudget, disruptionBudget(execution.cluster, minAvailable), budgets);
}

/** What is not known to be the cluster's own is made, never taken over: then the server says whose it is. */
async function apply<T extends KubeObject>(
  { cluster, reconcile }: ClusterExecution,
  kind: Kind<T>,
  object: T,
  cache: StoreView<T>,
): Promise<void> {
  const known = cache.get(keyOf(object));
  if (known === undefined || !isControlledBy(known, cluster)) {
    try {
      await reconcile.api.create(kind, object, { fieldManager });
      return;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    requireOwn(kind, await reconcile.api.get(kind, keyOf(object)), cluster);
  }
  await reconcile.api.apply(kind, object, { fieldManager, force: true });
}

export function requireOwn(kind: Kind<KubeObject>, present: KubeObject, cluster: EtcdCluster): void {
  if (isControlledBy(present, cluster)) return;
  const { name } = keyOf(present);
  const owner = controllerOf(present);
  // What a cluster of the same name left behind goes by itself; what a person or another cluster has does not.
  if (owner?.kind === EtcdCluster.kind && owner.name === cluster.metadata?.name)
    throw new NotYet(`the ${kind.kind} ${name} of an earlier cluster is still there`, delays.cacheIsBehind);
  if (owner?.kind === EtcdCluster.kind)
    throw new Refused(
      `the ${kind.kind} ${name} belongs to the EtcdCluster ${owner.name}: two clusters cannot share it. Delete this one and create it under another name.`,
    );
  throw new Refused(
    `a ${kind.kind} named ${name} exists and is not the cluster's: delete it, or name the cluster differently.`,
  );
}

export async function labelPod(execution: ClusterExecution, { member, uid }: ActionOf<"labelPod">): Promise<void> {
  const labels = { ...labelsOf(execution.cluster), etcd_node: member };
  await patchPod(execution, { name: member, uid }, { labels });
}

export async function guardPod(execution: ClusterExecution, { member, uid }: ActionOf<"guardPod">): Promise<void> {
  const scheme = schemeOf(isPeerTls(execution.assessment, member));
  const annotations = guardAnnotations(execution.cluster, member, scheme);
  await patchPod(execution, { name: member, uid }, { annotations });
}

const isPeerTls = ({ world }: ClusterExecution["assessment"], member: MemberName): boolean =>
  world.pods.some(({ name, tls }) => name === member && tls.peer === "tls");

/** From the pod as it is now: the cache keeps only a part of it. */
export async function resizePod(execution: ClusterExecution, action: ActionOf<"resizePod">): Promise<void> {
  const { cluster, reconcile } = execution;
  const { member, uid, settings } = action;
  const pod = await podNow(execution, member, uid);
  const containers = (pod.spec?.containers ?? []).map((container) => {
    const resources = container.name === etcdContainer && resized(container.resources, cluster.spec.pod.resources);
    return resources ? { ...container, resources } : container;
  });
  const wanted = { ...pod, spec: { ...pod.spec, containers } };
  await reconcile.api.replace(Pod, wanted, { subresource: "resize", fieldManager });
  if (settings === undefined) return;
  // Asked for once: what admission makes of it is its business.
  await patchPod(execution, { name: member, uid }, { annotations: { [settingsAnnotation]: settings } });
}

/** Two seeds would be two clusters: the API server takes the seed's name once, and it is the same for the same cluster. */
export async function createSeed(execution: ClusterExecution, { member }: ActionOf<"createSeed">): Promise<void> {
  const tls = tlsToMake(execution);
  const start = await seedStart(execution, member, tls);
  await makeClaim(execution, member);
  // A backup may be larger than what fits: etcd's default takes it.
  const quota = start.as === "restored" ? undefined : quotaOfNew(execution);
  const pod = memberPod(execution.cluster, member, start, tls, quota);
  await makePod(execution, pod);
}

export async function createPod(execution: ClusterExecution, { member }: ActionOf<"createPod">): Promise<void> {
  const members = listForJoining(execution, member);
  await makeClaim(execution, member);
  const pod = joiningPod(execution, member, members, listedUrlOf(execution, member) ?? "");
  await makePod(execution, pod);
}

/** One that is gone already is no success: the cache shows it still, and would have it deleted again and again. */
export async function deletePod(
  execution: ClusterExecution,
  { member, uid, force, soon }: ActionOf<"deletePod">,
): Promise<void> {
  const key = { namespace: execution.cluster.metadata.namespace, name: member };
  const usual = soon === true ? { gracePeriodSeconds: 1 } : {};
  await execution.reconcile.api.delete(Pod, key, { uid, ...(force ? { gracePeriodSeconds: 0 } : usual) });
}

export async function recordClusterId(
  execution: ClusterExecution,
  { clusterId, logVersion }: ActionOf<"recordClusterId">,
): Promise<void> {
  const log = logVersion === undefined ? {} : { raftLogVersion: logVersion };
  const { restore } = execution.cluster.status;
  const done = restore?.phase === "Seeding" ? { restore: { phase: "Done", plan: null } as const } : {};
  // Without them nobody could tell later whether those that are left had a vote.
  const voters = execution.assessment.voters.map(({ name }) => name).sort();
  const known = voters.length === 0 ? {} : { voters };
  await writeStatus(execution, { clusterId, phase: "Running", ...known, ...log, ...done });
}

export async function recordLogVersion(
  execution: ClusterExecution,
  { version }: ActionOf<"recordLogVersion">,
): Promise<void> {
  await writeStatus(execution, { raftLogVersion: version });
}

function cachesOf({ cluster, context }: ClusterExecution) {
  return context.caches(cluster.metadata.namespace);
}
