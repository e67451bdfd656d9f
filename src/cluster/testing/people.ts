// What people do with kubectl to a cluster on a stage, and what backup tools do for them.
import { backupNowAnnotation, EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { isAlreadyExists } from "../../kube/client/errors.ts";
import { getOrUndefined, unlessNotFound } from "../../kube/client/get-or-undefined.ts";
import { PersistentVolumeClaim } from "../../kube/objects/kinds.ts";
import type { Key, KubeObject } from "../../kube/objects/objects.ts";
import { repeatAnnotation } from "../../restore/plan/gates.ts";
import { key, type Stage } from "./stage.ts";

const nightly: Key = { ...key, name: "nightly" };
/** Into which clusters are cloned. */
export const otherNamespace = "drill";

/** Takes one backup more. */
export async function backUp(stage: Stage): Promise<void> {
  const spec = {
    clusterRef: { name: key.name },
    storageType: "S3",
    s3: { path: "bucket/nightly", awsSecret: "aws" },
    backupPolicy: { backupIntervalInSecond: 0, maxBackups: 0 },
  } as const;
  const made = await stage.api.create(EtcdBackup, { metadata: { ...nightly }, spec }).catch(unlessThere);
  if (made !== undefined) return;
  const annotations = { [backupNowAnnotation]: `${stage.clock.now()}` };
  await stage.api.mergePatch(EtcdBackup, nightly, { metadata: { annotations } });
}

/**
 * Gives a restore what it waits for: an EtcdBackup that nobody made, or the word that it is to happen once more. One that has
 * failed is followed by another one where it left no members.
 */
export async function attendToRestore(stage: Stage): Promise<void> {
  const waiting = await getOrUndefined(stage.api, EtcdRestore, key);
  if (waiting === undefined) return;
  if (waiting.status?.phase === "Failed" && (await stage.isWithoutData())) return restoreInPlace(stage);
  if (isOver(waiting)) return;
  const there = await getOrUndefined(stage.api, EtcdBackup, nightly);
  if (there === undefined) await backUp(stage);
  const { metadata, status } = waiting;
  if (!status?.conditions?.some(({ type, status }) => type === "Stalled" && status === "True")) return;
  const annotations = { [repeatAnnotation]: metadata?.uid ?? "" };
  await stage.api.mergePatch(EtcdRestore, key, { metadata: { annotations } });
}

/** The cluster that was cloned, if there is one, is ready, or the operator has refused it. */
export async function isCloneSettled(stage: Stage): Promise<boolean> {
  const there = await getOrUndefined(stage.api, EtcdCluster, { ...key, namespace: otherNamespace });
  if (there === undefined) return true;
  const of = (wanted: string) => there.status?.conditions?.find(({ type }) => type === wanted);
  return of("Ready")?.status === "True" || of("Stalled")?.status === "True";
}

/** No run is under way, and none is asked for. One that failed is tried again minutes later, also after the trouble is over. */
export async function isBackedUp(stage: Stage): Promise<boolean> {
  const { metadata, status } = (await getOrUndefined(stage.api, EtcdBackup, nightly)) ?? {};
  const asked = metadata?.annotations?.[backupNowAnnotation];
  return status?.run === undefined && (asked === undefined || asked === status?.handledRequest);
}

/** Replaces the data of the cluster by that of the newest backup. One that is under way is left to its end. */
export async function restoreInPlace(stage: Stage): Promise<void> {
  const before = await getOrUndefined(stage.api, EtcdRestore, key);
  if (before !== undefined && !isOver(before)) return;
  if (before !== undefined) await stage.api.delete(EtcdRestore, key);
  const spec = { backup: { name: nightly.name }, etcdCluster: { name: key.name } };
  await stage.api.create(EtcdRestore, { metadata: { ...key }, spec });
}

export const isOver = ({ status }: EtcdRestore): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";

/** `kubectl get -o yaml > f; kubectl delete -f f; kubectl apply -f f`. */
export async function reapply(stage: Stage, passMs = 3_000): Promise<void> {
  const read = await stage.cluster();
  // Without volumes there is nothing to go on with.
  if (!stage.kubelet.allKeepTheirData) stage.kubelet.etcd = undefined;
  await stage.api.delete(EtcdCluster, key);
  await stage.pass(passMs);
  await stage.api.create(EtcdCluster, { metadata: applied(read), spec: read.spec });
}

/** `kubectl delete pvc -l etcd_cluster=…`. */
export async function deleteClaims(stage: Stage): Promise<void> {
  const { items } = await stage.api.list(PersistentVolumeClaim, { namespace: key.namespace });
  for (const { metadata } of items)
    await stage.api.delete(PersistentVolumeClaim, { ...key, name: metadata?.name ?? "" }).catch(unlessNotFound);
}

/** As a tool does that brings a namespace into another one: what was written on objects comes along. */
export async function clone(stage: Stage): Promise<void> {
  const { api, kubelet } = stage;
  const namespace = otherNamespace;
  const there = await getOrUndefined(api, EtcdCluster, { ...key, namespace });
  if (there !== undefined) return;
  const { items } = await api.list(PersistentVolumeClaim, { namespace: key.namespace });
  for (const claim of items) {
    if (claim.metadata?.deletionTimestamp !== undefined) continue;
    const metadata = { ...applied(claim), namespace };
    const made = await api.create(PersistentVolumeClaim, { metadata, spec: claim.spec ?? {} });
    kubelet.cloneVolume(claim.metadata?.uid ?? "", made.metadata?.uid ?? "");
    await api.mergePatch(PersistentVolumeClaim, metadata, { status: claim.status ?? {} }, { subresource: "status" });
  }
  const read = await stage.cluster();
  await api.create(EtcdCluster, { metadata: { ...applied(read), namespace }, spec: read.spec });
}

interface Applied extends Key {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

/** As a tool brings a namespace back: what was written on objects comes along, and their status does not. */
export async function bringAllBack(stage: Stage, restore: EtcdRestore): Promise<void> {
  await stage.api.delete(EtcdRestore, key);
  await reapply(stage);
  await stage.api.create(EtcdRestore, { metadata: applied(restore), spec: restore.spec });
}

/** What `kubectl apply` sends of what `kubectl get` gave. */
function applied({ metadata }: KubeObject): Applied {
  const { name = "", namespace = "", labels, annotations } = metadata ?? {};
  return { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) };
}

function unlessThere(error: unknown): undefined {
  if (!isAlreadyExists(error)) throw error;
}
