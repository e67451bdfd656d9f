// Reads everything that a pass decides from, once: Kubernetes from the caches, etcd live. It makes no list calls and
// changes nothing.
import {
  type CompleteEtcdCluster,
  type EtcdCluster,
  problemsOf,
  withDefaults,
} from "../../api/etcd-cluster/etcd-cluster.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import { PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { type Key, keyText, type KubeObject } from "../../kube/objects/objects.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import type { ReconcileContext } from "../../kube/controller/run-reconcile.ts";
import type { ClusterCaches, ClusterContext } from "../context.ts";
import { isClaimOf } from "../objects/claims.ts";
import { isImageCheck } from "../objects/image-check.ts";
import { isCached } from "../objects/labels.ts";
import { versionAnnotation } from "../objects/member-pod.ts";
import { firstMembersOf } from "../objects/first-members.ts";
import { memberName, type MemberName, memberOfPeerUrl, seedName } from "../objects/names.ts";
import { serverNameOf } from "../objects/tls.ts";
import { type Asking, observedEtcd } from "./etcd.ts";
import { claimProblems, foreignHomeOf, observedClaim } from "./claims.ts";
import { askingRestore } from "./asking-restore.ts";
import { observedImageCheck } from "./image-checks.ts";
import { observedPod } from "./pods.ts";
import { observedTls, reachableAt, wireSides } from "./tls.ts";
import { clientServiceName } from "../objects/services.ts";
import { volumeNode } from "./volume-nodes.ts";
import { type ClusterWorld, type EtcdView, type LastBackup, type MemberPod, recordedIdOf } from "./world.ts";
import type { Observed } from "../../controllers/stages.ts";
import { withEndRead } from "./pod-problems.ts";
import type { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";

export async function observe(
  key: Key,
  { api, signal }: Pick<ReconcileContext, "api" | "signal">,
  context: ClusterContext,
): Promise<Observed<ClusterWorld>> {
  const caches = context.caches(key.namespace);
  const stored = caches.clusters.get(key);
  if (stored === undefined || stored.metadata?.deletionTimestamp !== undefined || !context.isOurs(stored)) {
    context.progress.forget(key);
    context.logins.forget(key);
    context.refusedUpkeep.forget(keyText(key));
    context.takenAway.forget(keyText(key));
    context.wire.forget(keyText(key));
    context.metrics.forget(key);
    return { t: "notOurs" };
  }
  const made = versionsMade(stored, key, caches);
  const cluster = withDefaults(stored, made);
  const own = <T extends KubeObject>(object: T | undefined): T | undefined =>
    object !== undefined && isControlledBy(object, cluster) ? object : undefined;
  const owned = caches.pods.ownedBy(cluster.metadata.uid ?? "").filter((pod) => isControlledBy(pod, cluster));
  const known = owned.filter((pod) => !isImageCheck(pod));
  const recorded = recordedIdOf(cluster);
  const tls = await observedTls(cluster, caches, api, signal);
  const read = async (at: readonly Pod[]): Promise<Pick<ClusterWorld, "pods" | "etcd">> => {
    const pods = await Promise.all(
      at.map((pod) => withEndRead(observedPod(pod, caches.nodes), cluster.metadata.namespace, api, signal)),
    );
    const regressed: Asking["regressed"] = (answers, listed) => context.progress.note(cluster, answers, listed);
    const reach: Asking["reach"] = (pod, address) => reachableAt(address, pod, cluster, tls.identity);
    const ask = async (): Promise<EtcdView> => {
      const source = await context.logins.of(cluster, { given: caches.given, api, signal });
      return observedEtcd(pods, { members: context.members, reach, source, recorded, regressed, signal });
    };
    const etcd = await ask();
    const isWorthAnother =
      etcd.t === "accessDenied" && (await context.logins.hasChanged(cluster, { given: caches.given, api, signal }));
    return { pods, etcd: isWorthAnother ? await ask() : etcd };
  };
  let seen = await read(known);
  const missing = namesOf(cluster, seen.etcd).filter((name) => !seen.pods.some((pod) => pod.name === name));
  const strays = await straysAmong(missing, cluster, api, signal);
  if (strays.length > 0) seen = await read([...known, ...strays]);
  const presented = await context.wire.read({
    key: keyText(key),
    pods: seen.pods,
    serverName: ({ name }) => serverNameOf(cluster, name),
    sides: wireSides(tls),
    now: context.now(),
    signal,
  });
  const named = caches.claims.byIndex("cluster", keyText(key));
  const cached = named.filter((claim) => isClaimOf(claim, cluster));
  const unclaimed = seen.pods.filter(({ hasVolume, name }) => hasVolume && !isAmong(cached, name));
  const without = [...missing, ...unclaimed.map(({ name }) => name)].filter((name) => !isAmong(cached, name));
  const strayClaims = usesVolumes(cluster, seen.pods) ? await strayClaimsAmong(without, cluster, api, signal) : [];
  const claimReads = [...cached, ...strayClaims].map(async (claim) => {
    const pod = seen.pods.find(({ name, hasVolume }) => hasVolume && name === claim.metadata?.name);
    return observedClaim(claim, await volumeNode(claim, pod, { api, nodes: caches.nodes, signal }));
  });
  const claims = await Promise.all(claimReads);
  const others = named
    .filter((claim) => !isClaimOf(claim, cluster))
    .map((claim) => ({ claim, observed: observedClaim(claim) }))
    .filter(({ observed: { role, terminating } }) => role === "current" && !terminating)
    .map((other) => ({ ...other, home: foreignHomeOf(other.claim, cluster, caches.clusters) }));
  const world: ClusterWorld = {
    cluster,
    problems: [...problemsOf(stored, made), ...claimProblems(cluster, claims)],
    ...seen,
    tls: { ...tls, presented },
    asking: await askingRestore(cluster, api, signal),
    backup: lastBackupOf(caches.backups?.byIndex("cluster", keyText(key)) ?? []),
    claims,
    leftClaims: others.flatMap(({ home, observed }) => (home === undefined ? [observed] : [])),
    foreignClaims: others.flatMap(({ home, observed: { name, uid } }) =>
      home === undefined ? [] : [{ name, uid, of: home }],
    ),
    imageChecks: owned.filter(isImageCheck).map(observedImageCheck),
    peerService: own(caches.services.get(key)),
    clientService: own(caches.services.get({ ...key, name: clientServiceName(cluster) })),
    budget: own(caches.budgets.get(key)),
  };
  return { t: "world", world };
}

/**
 * In which versions its pods and volumes were made, retired ones aside: what a cluster without a version in its spec keeps.
 * Volumes that an EtcdCluster of this name has left behind count, too: their data is what it will serve.
 */
function versionsMade(stored: EtcdCluster, key: Key, caches: ClusterCaches): string[] {
  const pods = caches.pods.ownedBy(stored.metadata?.uid ?? "").filter((pod) => isControlledBy(pod, stored));
  const claims = caches.claims
    .byIndex("cluster", keyText(key))
    .filter((claim) => observedClaim(claim).role === "current");
  return [...pods, ...claims].flatMap(({ metadata }) => metadata?.annotations?.[versionAnnotation] ?? []);
}

/** Names of the members' pods, whether they are there or not; as the status has them while etcd does not answer. */
function namesOf(cluster: CompleteEtcdCluster, etcd: EtcdView): MemberName[] {
  const { members, voters } = cluster.status;
  const written = [...members.ready, ...members.unready, ...voters].map(memberName);
  const listed = "members" in etcd ? etcd.members : [];
  if (etcd.t === "accessDenied") return [...new Set(written)];
  // A seed that has not answered yet is in no list and no status.
  const first = firstMembersOf(cluster).map(({ name }) => name);
  if (listed.length === 0) return [...new Set([...written, seedName(cluster), ...first])];
  return listed.map(({ peerUrls: [url = ""] }) => memberOfPeerUrl(cluster, url)).filter((name) => name !== undefined);
}

/**
 * Pods that lost the labels which the cache selects them by look as if they were gone. No member is replaced, and no
 * data is reported as lost, because a label is missing.
 */
async function straysAmong(
  names: readonly MemberName[],
  cluster: CompleteEtcdCluster,
  api: KubeApi,
  signal: AbortSignal,
): Promise<Pod[]> {
  const { namespace } = cluster.metadata;
  const pods = await Promise.all(names.map((name) => getOrUndefined(api, Pod, { namespace, name }, { signal })));
  return pods.filter((pod) => pod !== undefined).filter((pod) => isControlledBy(pod, cluster) && !isCached(pod));
}

const isAmong = (objects: readonly KubeObject[], name: MemberName): boolean =>
  objects.some(({ metadata }) => metadata?.name === name);

function usesVolumes({ spec }: CompleteEtcdCluster, pods: readonly MemberPod[]): boolean {
  return spec.pod.persistentVolumeClaimSpec !== undefined || pods.some(({ hasVolume }) => hasVolume);
}

/** The same of claims: a member is not given up for a label either. */
async function strayClaimsAmong(
  names: readonly MemberName[],
  cluster: CompleteEtcdCluster,
  api: KubeApi,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim[]> {
  const { namespace } = cluster.metadata;
  const claims = await Promise.all(
    names.map((name) => getOrUndefined(api, PersistentVolumeClaim, { namespace, name }, { signal })),
  );
  return claims.filter((claim) => claim !== undefined).filter((claim) => isClaimOf(claim, cluster));
}

/** The newest backup of a cluster, as its EtcdBackups know it. */
export function lastBackupOf(backups: readonly EtcdBackup[]): LastBackup | undefined {
  const taken = backups.flatMap(({ metadata, status }): LastBackup[] => {
    const { path = "", takenAt } = status?.lastBackup ?? {};
    return path === "" || takenAt === undefined ? [] : [{ by: metadata?.name ?? "", path, takenAt }];
  });
  return taken.toSorted((a, b) => Date.parse(b.takenAt) - Date.parse(a.takenAt))[0];
}
