// Reads everything that a reconcile of an EtcdRestore decides from, once. Restores are rare and replace data, so all but the
// EtcdRestore itself is read live.
import {
  EtcdBackup,
  withDefaults as withBackupDefaults,
  type CompleteEtcdBackup,
} from "../../api/etcd-backup/etcd-backup.ts";
import { problemsOf as problemsOfBackup } from "../../api/etcd-backup/problems.ts";
import {
  type CompleteEtcdCluster,
  EtcdCluster,
  withDefaults as withClusterDefaults,
} from "../../api/etcd-cluster/etcd-cluster.ts";
import { restoreRequestOf } from "../../api/etcd-cluster/restore-annotation.ts";
import { type CompleteEtcdRestore, EtcdRestore, withDefaults } from "../../api/etcd-restore/etcd-restore.ts";
import { problemsOf } from "../../api/etcd-restore/problems.ts";
import { isInScope } from "../../api/scope.ts";
import { observedWorker } from "../../controllers/worker.ts";
import type { Observed } from "../../controllers/stages.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { isForbidden } from "../../kube/client/errors.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import { PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { type Key, type Kind, type KubeObject, keyOf } from "../../kube/objects/objects.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { resultOf } from "../../worker/pod.ts";
import type { RestoreContext } from "../context.ts";
import { firstSaveName, workerName } from "../objects/worker-pods.ts";
import { observedSeeds } from "./seeds.ts";
import { observedVolumes } from "./volumes.ts";
import { type NamedBackup, type Seed, type Volumes, type RestoreWorld, isOver } from "./world.ts";

/** `others`: its cluster is another operator's, and it is with it. */
export type ObservedRestore =
  | Exclude<Observed<RestoreWorld>, { t: "unseen" }>
  | { readonly t: "others"; readonly restore: CompleteEtcdRestore };

type Reading = { readonly api: KubeApi; readonly signal: AbortSignal };

export async function observe(key: Key, { api, signal }: Reading, context: RestoreContext): Promise<ObservedRestore> {
  const caches = context.caches(key.namespace);
  const stored = caches.restores.get(key);
  if (stored === undefined || stored.metadata?.deletionTimestamp !== undefined) return { t: "notOurs" };
  const read = reader({ api, signal });
  const restore = withDefaults(stored);
  const { namespace } = restore.metadata;
  const known = [...caches.clusters.values()].find(({ metadata }) => isOne(metadata?.uid, restore.status.clusterUid));
  const name = known?.metadata?.name ?? restore.spec.etcdCluster.name;
  const over = isOver(restore);
  // A name that the schema refuses is no name to ask for.
  const problems = over ? [] : problemsOf(stored);
  const found = over || problems.length > 0 ? undefined : await read(EtcdCluster, { namespace, name });
  const cluster = found && withClusterDefaults(found);
  if (!isOurs(restore, cluster, context.scope))
    return cluster === undefined ? { t: "notOurs" } : { t: "others", restore };
  const podName = workerName(restore);
  const own = caches.pods.ownedBy(restore.metadata.uid ?? "");
  const savingEarly = savingEarlyIn(restore, own);
  const pod = podName === undefined ? undefined : await read(Pod, { namespace, name: podName });
  const world: RestoreWorld = {
    restore,
    problems,
    clusterSpec: stored.spec?.clusterSpec,
    backup: over || problems.length > 0 ? { t: "none" } : await namedBackup(restore, read),
    cluster,
    rival: cluster && (await rivalOf(restore, cluster, read)),
    volumes: cluster ? await volumesOf(restore, cluster, { api, signal }) : noVolumes,
    worker: pod && (isControlledBy(pod, restore) ? observedWorker(pod) : "foreign"),
    seeds: cluster ? await seedsOf(restore, cluster, { api, signal }) : [],
    requested: requestedOf(restore, over ? known : cluster, context.scope),
    savingEarly,
    spent: spentOf(restore, podName, own).filter(({ uid }) => uid !== savingEarly?.uid),
    image: context.workerImage(),
  };
  return { t: "world", world };
}

type Read = <T extends KubeObject>(kind: Kind<T>, key: Key) => Promise<T | undefined>;

function reader({ api, signal }: Reading): Read {
  return (kind, key) => getOrUndefined(api, kind, key, { signal });
}

const isOne = (uid: string | undefined, wanted: string | undefined): boolean => uid !== undefined && uid === wanted;

/**
 * It is for the operator that manages its cluster. Where there is none yet, its own annotation says so. What has lost its
 * cluster on the way is anybody's: all that is left to do is to say so.
 */
function isOurs(
  restore: CompleteEtcdRestore,
  cluster: CompleteEtcdCluster | undefined,
  scope: RestoreContext["scope"],
): boolean {
  if (isOver(restore) || (cluster === undefined && restore.status.clusterUid !== undefined)) return true;
  return isInScope(cluster ?? restore, { t: scope });
}

async function namedBackup({ metadata: { namespace }, spec }: CompleteEtcdRestore, read: Read): Promise<NamedBackup> {
  const name = spec.backup?.name;
  if (name === undefined) return { t: "none" };
  let stored: EtcdBackup | undefined;
  try {
    stored = await read(EtcdBackup, { namespace, name });
  } catch (error) {
    if (isForbidden(error)) return { t: "forbidden", name };
    throw error;
  }
  if (stored === undefined) return { t: "missing", name };
  const backup: CompleteEtcdBackup = withBackupDefaults(stored);
  return { t: "there", backup, problems: problemsOfBackup(stored) };
}

/** Two EtcdRestores never replace the data of one cluster at a time: the later one waits for the end of the earlier one. */
async function rivalOf(
  restore: CompleteEtcdRestore,
  cluster: CompleteEtcdCluster,
  read: Read,
): Promise<string | undefined> {
  const followed = [restoreRequestOf(cluster), cluster.status.restore].filter((one) => one !== undefined);
  for (const { name, uid } of followed.filter((one) => one.uid !== restore.metadata.uid)) {
    const other = await read(EtcdRestore, { ...keyOf(restore), name });
    if (other?.metadata?.uid === uid && !isOver(withDefaults(other))) return name;
  }
  return undefined;
}

const noVolumes: Volumes = { kept: [], holdAll: false };

/** Once the cluster has taken it up, what was kept is recorded. */
async function volumesOf(
  restore: CompleteEtcdRestore,
  cluster: CompleteEtcdCluster,
  { api, signal }: Reading,
): Promise<Volumes> {
  if (restore.status.inPlace !== true || cluster.status.restore?.uid === restore.metadata.uid) return noVolumes;
  const { name, namespace } = cluster.metadata;
  const some = { namespace, labelSelector: `etcd_cluster=${name}`, signal };
  try {
    const [claims, pods] = await Promise.all([api.list(PersistentVolumeClaim, some), api.list(Pod, some)]);
    return observedVolumes(cluster, claims.items, pods.items);
  } catch (error) {
    // What cannot be seen is not relied on: the data is saved instead.
    if (isForbidden(error)) return noVolumes;
    throw error;
  }
}

/** All of them, until it is over: each has to be made from the very object that was proved. */
async function seedsOf(
  restore: CompleteEtcdRestore,
  cluster: CompleteEtcdCluster,
  { api, signal }: Reading,
): Promise<readonly Seed[]> {
  if (restore.status.phase !== "Restoring" || cluster.status.restore?.uid !== restore.metadata.uid) return [];
  const { name, namespace } = cluster.metadata;
  const { items } = await api.list(Pod, { namespace, labelSelector: `etcd_cluster=${name}`, signal });
  return observedSeeds(restore, cluster, items);
}

/** The cluster follows it by its status, or it is over: then only an export of the cluster could do something with it. */
function requestedOf(
  restore: CompleteEtcdRestore,
  cluster: EtcdCluster | undefined,
  scope: RestoreContext["scope"],
): RestoreWorld["requested"] {
  const { uid: restoreUid } = restore.metadata;
  if (cluster === undefined || restoreRequestOf(cluster)?.uid !== restoreUid) return undefined;
  const { name = "", uid = "", resourceVersion = "" } = cluster.metadata ?? {};
  const isOwn = uid === restore.status.clusterUid && isInScope(cluster, { t: scope });
  const isTakenUp = isOver(restore) || cluster.status?.restore?.uid === restoreUid;
  return isOwn && isTakenUp ? { name, uid, resourceVersion } : undefined;
}

function savingEarlyIn(restore: CompleteEtcdRestore, pods: readonly Pod[]): RestoreWorld["savingEarly"] {
  if (restore.status.phase !== "Checking") return undefined;
  const pod = pods.find(({ metadata }) => metadata?.name === firstSaveName(restore));
  return pod && { name: pod.metadata?.name ?? "", uid: pod.metadata?.uid ?? "" };
}

/** All but the one that is under way, and the one whose failure ended it: its log says more. */
function spentOf(
  restore: CompleteEtcdRestore,
  current: string | undefined,
  pods: readonly Pod[],
): RestoreWorld["spent"] {
  return pods
    .filter((pod) => isControlledBy(pod, restore) && pod.metadata?.deletionTimestamp === undefined)
    .filter((pod) => pod.metadata?.name !== current)
    .filter((pod) => restore.status.pod !== pod.metadata?.name || resultOf(pod)?.ok === true)
    .map(({ metadata }) => ({ name: metadata?.name ?? "", uid: metadata?.uid ?? "" }));
}
