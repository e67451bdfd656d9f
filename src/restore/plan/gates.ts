// What has to hold on the whole way: that the spec is the one which was begun with, that the cluster is still the same, and
// that nobody else is at it.
import { delays } from "../../controllers/delays.ts";
import { restoreRequestOf } from "../../api/etcd-cluster/restore-annotation.ts";
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type CompleteEtcdRestore, EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import type { RestoreWorld } from "../observe/world.ts";
import { fail, type RestoreDecision, stay, stayWaiting } from "./actions.ts";
import { specDigest } from "../objects/seed.ts";

/** Status of etcd-operator 0.9 does not say which generation it is of. */
export function isEdited({ metadata, status: { observedGeneration } }: CompleteEtcdRestore): boolean {
  return observedGeneration !== undefined && observedGeneration !== metadata.generation;
}

/** No cluster was asked for anything, and none was made. */
export function isUntouched({ restore, cluster }: RestoreWorld): boolean {
  const { phase, clusterPhase } = restore.status;
  if (phase !== "Restoring") return true;
  return clusterPhase === undefined && !(cluster !== undefined && isAsked(cluster, restore));
}

/** Undefined: the cluster is the one that it was. */
export function strayed({ restore, cluster }: RestoreWorld): RestoreDecision | undefined {
  const { inPlace, clusterUid } = restore.status;
  const { name } = restore.spec.etcdCluster;
  if (clusterUid !== undefined && cluster?.metadata.uid !== clusterUid)
    return fail(
      `The EtcdCluster ${name} was deleted${cluster === undefined ? "" : " and created again"} after the restore had begun. ${whatIsLeft(restore)}Apply another EtcdRestore, with spec.clusterSpec where there is no cluster.`,
    );
  if (clusterUid !== undefined && cluster?.metadata.deletionTimestamp !== undefined)
    return fail(`The EtcdCluster ${name} is being deleted. ${whatIsLeft(restore)}Apply another EtcdRestore.`);
  if (inPlace === false && clusterUid === undefined && cluster !== undefined && !isAsked(cluster, restore))
    return fail(
      `An EtcdCluster ${name} was created by somebody else after the restore began. Nothing was touched: to replace its data, apply an EtcdRestore named ${name}; to restore into a new cluster, choose another name in spec.etcdCluster.name.`,
    );
  return undefined;
}

/** Whether the cluster was asked by this very EtcdRestore, or follows it already. */
export function isAsked(cluster: CompleteEtcdCluster, { metadata: { uid } }: CompleteEtcdRestore): boolean {
  return [restoreRequestOf(cluster), cluster.status.restore].some((one) => one !== undefined && one.uid === uid);
}

/** Undefined: the cluster may be replaced now. */
export function heldUp({ cluster, rival }: RestoreWorld): RestoreDecision | undefined {
  if (cluster === undefined) return undefined;
  const { name } = cluster.metadata;
  if (rival !== undefined)
    return stayWaiting(
      `The EtcdRestore ${rival} is replacing the data of the EtcdCluster ${name}: this one waits until that is over. Delete ${rival} to give it up.`,
    );
  if (cluster.spec.paused)
    return stayWaiting(`The EtcdCluster ${name} is paused: the restore waits until spec.paused is false.`);
  return undefined;
}

/** Where the data is that was replaced, for people whose restore has failed; ends with a space, or is empty. */
export function whatIsLeft({ status: { snapshotPath, keptVolumes } }: CompleteEtcdRestore): string {
  if (snapshotPath !== undefined) return `What the cluster held is saved in ${snapshotPath}. `;
  return keptVolumes === undefined ? "" : `What the cluster held is in the claims ${keptVolumes}. `;
}

/** Its value is the uid of the EtcdRestore, so that one that is made again asks for nothing. */
export const repeatAnnotation = `${EtcdRestore.group}/repeat`;

/** Its value is the uid under which the EtcdRestore has begun. It stays with the object when a tool brings it back. */
export const begunAnnotation = `${EtcdRestore.group}/begun-as`;

/**
 * One that has begun and comes back as another object, without its status: the data that it replaced, or the cluster that it
 * made, may have come back with it. Undefined: it is a new one, or a person has said that it is to be carried out.
 */
export function broughtBack({ metadata }: CompleteEtcdRestore): RestoreDecision | undefined {
  const { annotations = {}, uid } = metadata;
  const begun = annotations[begunAnnotation];
  if (begun === undefined || begun === uid || annotations[repeatAnnotation] === uid) return undefined;
  const because = `This EtcdRestore has begun before, as another object: it was exported or backed up, and applied again. Nothing was touched. Delete it if it has done its work. To carry it out, whatever was written since: ${repeatCommand(metadata)}`;
  return stay(because, { needsAPerson: true, requeueAfter: delays.untilCorrected });
}

const repeatCommand = ({ namespace, name, uid }: CompleteEtcdRestore["metadata"]): string =>
  `kubectl annotate --overwrite etcdrestore -n ${namespace} ${name} ${repeatAnnotation}=${uid}`;

/**
 * Tools that bring objects back do so without their status, and an EtcdRestore that was over begins again. In place it would
 * replace what was written since, so one that the cluster has followed already waits for a person. It is known by its backup,
 * and by its spec: that may ask for the newest backup, which is another one by now. Undefined: it is a new one, the last one
 * did not come to its end, or a person has said so.
 */
export function repeated({ restore, cluster }: RestoreWorld): RestoreDecision | undefined {
  const { metadata, spec, status } = restore;
  const { sha256, path = "" } = status.backup ?? {};
  const before = cluster?.status.restore;
  if (status.inPlace !== true || before === undefined || sha256 === undefined) return undefined;
  if (before.uid === metadata.uid || metadata.annotations?.[repeatAnnotation] === metadata.uid) return undefined;
  const ended = (all: readonly string[] = []): readonly string[] => (before.phase === "Done" ? all : all.slice(1));
  const isSameBackup = ended(before.restored).includes(sha256);
  if (!isSameBackup && !ended(before.specs).includes(specDigest(spec))) return undefined;
  const by = isSameBackup ? `the backup ${path}` : "an EtcdRestore with this very spec";
  const because = `The data of the EtcdCluster ${cluster?.metadata.name} was replaced by ${by} before. Nothing was touched. To replace it again, with all that was written since: ${repeatCommand(metadata)}`;
  return stay(because, { needsAPerson: true, requeueAfter: delays.untilCorrected });
}

/** The EtcdBackup that says where the backup is. Undefined: it can be used, or none is named. */
export function withoutBackup({ backup }: RestoreWorld): RestoreDecision | undefined {
  switch (backup.t) {
    case "none":
      return undefined;
    case "missing":
      return stayWaiting(
        `The EtcdBackup ${backup.name} does not exist: create it, or apply another EtcdRestore that says in spec.backupStorageType where the backup is.`,
      );
    case "forbidden":
      return stayWaiting(
        `The operator may not read the EtcdBackup ${backup.name}: grant it the permissions on etcdbackups in example/rbac.`,
      );
    case "there":
      break;
  }
  if (backup.problems.length === 0) return undefined;
  return fail(`The EtcdBackup ${backup.backup.metadata.name} cannot be used: ${backup.problems.join(" ")}`);
}
