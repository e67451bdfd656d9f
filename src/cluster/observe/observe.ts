// Reads everything that a pass decides from, once: Kubernetes from the caches, etcd live. It makes no list calls and
// changes nothing.
import {
  type CompleteEtcdCluster,
  EtcdCluster,
  problemsOf,
  withDefaults,
} from "../../api/etcd-cluster/etcd-cluster.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { isNotFound } from "../../kube/client/errors.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { type Key, keyText, type KubeObject } from "../../kube/objects/objects.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import type { ReconcileContext } from "../../kube/controller/reconcile.ts";
import type { ClusterContext } from "../context.ts";
import { isImageCheck } from "../objects/image-check.ts";
import { isCached } from "../objects/labels.ts";
import { memberOfPeerUrl, seedName } from "../objects/names.ts";
import { type Asking, observedEtcd } from "./etcd.ts";
import { observedImageCheck } from "./image-checks.ts";
import { observedPod } from "./pods.ts";
import { observedTls, reachableAt, wireSides } from "./tls.ts";
import { clientServiceName } from "../objects/services.ts";
import { type EtcdView, latchedIdOf, type World } from "./world.ts";

/** Undefined when there is no such cluster, when it is going, or when it is another operator's. */
export async function observe(
  key: Key,
  { api, signal }: Pick<ReconcileContext, "api" | "signal">,
  context: ClusterContext,
): Promise<World | undefined> {
  const caches = context.caches(key.namespace);
  const stored = caches.clusters.get(key);
  if (stored === undefined || stored.metadata?.deletionTimestamp !== undefined || !context.isOurs(stored)) {
    context.progress.forget(key);
    context.refusedUpkeep.forget(keyText(key));
    context.wire.forget(keyText(key));
    context.metrics.forget(key);
    return undefined;
  }
  const cluster = withDefaults(stored);
  const own = <T extends KubeObject>(object: T | undefined): T | undefined =>
    object !== undefined && isControlledBy(object, cluster) ? object : undefined;
  const owned = caches.pods.ownedBy(cluster.metadata.uid ?? "").filter((pod) => isControlledBy(pod, cluster));
  const known = owned.filter((pod) => !isImageCheck(pod));
  const latched = latchedIdOf(cluster);
  const tls = await observedTls(cluster, caches, api, signal);
  const look = async (at: readonly Pod[]): Promise<Pick<World, "pods" | "etcd">> => {
    const pods = at.map((pod) => observedPod(pod, caches.nodes));
    const regressed: Asking["regressed"] = (answers, listed) => context.progress.note(cluster, answers, listed);
    const reach: Asking["reach"] = (pod, address) => reachableAt(address, pod, cluster, tls.identity);
    return { pods, etcd: await observedEtcd(pods, { members: context.members, reach, latched, regressed, signal }) };
  };
  let seen = await look(known);
  const missing = namesOf(cluster, seen.etcd).filter((name) => !seen.pods.some((pod) => pod.name === name));
  const strays = await straysAmong(missing, cluster, api, signal);
  if (strays.length > 0) seen = await look([...known, ...strays]);
  const presented = await context.wire.look({
    key: keyText(key),
    pods: seen.pods,
    sides: wireSides(tls),
    now: context.now(),
    signal,
  });
  return {
    cluster,
    problems: [...problemsOf(stored), ...notYet(cluster)],
    ...seen,
    tls: { ...tls, presented },
    imageChecks: owned.filter(isImageCheck).map(observedImageCheck),
    peerService: own(caches.services.get(key)),
    clientService: own(caches.services.get({ ...key, name: clientServiceName(cluster) })),
    budget: own(caches.budgets.get(key)),
  };
}

/** Of the members' pods, whether they are there or not; as the status has them while etcd does not answer. */
function namesOf(cluster: CompleteEtcdCluster, etcd: EtcdView): string[] {
  const { members, voters } = cluster.status;
  const listed = "members" in etcd ? etcd.members : [];
  // A seed that has not answered yet is in no list and no status.
  if (listed.length === 0) return [...new Set([...members.ready, ...members.unready, ...voters, seedName(cluster)])];
  return listed.map(({ peerUrls: [url = ""] }) => memberOfPeerUrl(cluster, url)).filter((name) => name !== undefined);
}

/**
 * Pods that lost the labels which the cache selects them by look as if they were gone. No member is replaced, and no
 * data is reported as lost, because a label is missing.
 */
async function straysAmong(
  names: readonly string[],
  cluster: CompleteEtcdCluster,
  api: KubeApi,
  signal: AbortSignal,
): Promise<Pod[]> {
  const { namespace } = cluster.metadata;
  const pods = await Promise.all(
    names.map((name) => api.get(Pod, { namespace, name }, { signal }).catch(unlessNotFound)),
  );
  return pods.filter((pod) => pod !== undefined).filter((pod) => isControlledBy(pod, cluster) && !isCached(pod));
}

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** What the API has and this release cannot do yet. Doing less than asked, unsaid, would be worse than doing nothing. */
function notYet({ spec }: CompleteEtcdCluster): string[] {
  const problems: string[] = [];
  if (spec.pod.persistentVolumeClaimSpec !== undefined)
    problems.push(
      "spec.pod.persistentVolumeClaimSpec is not implemented in this release: remove it, or wait for a release that has it.",
    );
  return problems;
}

/** `etcd.database.coreos.com/scope: clusterwide` is for an operator of the whole cluster; without it, for one of a namespace. */
export const scopeAnnotation = `${EtcdCluster.group}/scope`;

export function isInScope(cluster: EtcdCluster, scope: "clusterwide" | "namespaces"): boolean {
  const annotation = cluster.metadata?.annotations?.[scopeAnnotation];
  return scope === "clusterwide" ? annotation === "clusterwide" : annotation === undefined;
}
