// Where the backup of an EtcdRestore is, and with which keys and in whose name it is read: as the EtcdRestore says itself, or
// as the EtcdBackup says that it names.
import type { WorkerPolicy } from "../../api/backups/worker-policy.ts";
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import type { Choice } from "../../worker/job.ts";
import { encryptionOf, type Mount, type StorePlace, placeOf, type Sealed } from "../../worker/mounts.ts";

export interface BackupPlace {
  readonly place: StorePlace;
  readonly sealed: Sealed;
  readonly choice: Choice;
}

/** Throws a RangeError for specs that `problemsOf` complains about, and when the EtcdBackup is missing. */
export function backupPlace({ spec }: CompleteEtcdRestore, backup: CompleteEtcdBackup | undefined): BackupPlace {
  const { before = "" } = spec;
  const limit = before === "" ? {} : { before: new Date(before).toISOString() };
  if (spec.backup === undefined) {
    if (spec.backupStorageType === undefined) throw new RangeError("the EtcdRestore does not say where its backup is");
    const place = placeOf(spec.backupStorageType, spec);
    const { path } = place;
    const choice: Choice = before === "" ? { t: "key", key: path } : { t: "newest", path, ...limit };
    return { place, sealed: encryptionOf(spec.encryption, place), choice };
  }
  if (backup === undefined) throw new RangeError(`the EtcdBackup ${spec.backup.name} is missing`);
  const place = placeOf(backup.spec.storageType, backup.spec);
  const sealed = ofCluster(encryptionOf(spec.encryption ?? backup.spec.encryption, place), backup);
  const { namespace, name } = backup.metadata;
  const { releaseBefore = "" } = backup.spec.backupPolicy;
  const released = releaseBefore === "" ? {} : { releasedBefore: releaseBefore };
  const choice: Choice = { t: "newest", path: place.path, owner: { namespace, name }, ...released, ...limit };
  return { place, sealed, choice };
}

/** The EtcdBackup chooses the object, so it has to be of the EtcdCluster that the EtcdBackup backs up. */
function ofCluster({ encryption, mounts }: Sealed, { metadata, spec }: CompleteEtcdBackup): Sealed {
  if (encryption === undefined || spec.clusterRef === undefined) return { mounts, ...(encryption && { encryption }) };
  const cluster = { namespace: metadata.namespace, name: spec.clusterRef.name };
  return { mounts, encryption: { ...encryption, cluster } };
}

/** What only reads needs no permission to write. */
export function readOnly(mounts: readonly Mount[]): Mount[] {
  return mounts.map((mount) => ("claim" in mount ? { ...mount, readOnly: true } : mount));
}

/** The store may know the worker by its ServiceAccount, so that of the EtcdBackup is taken where the EtcdRestore has none. */
export function workerPolicyOf({ spec }: CompleteEtcdRestore, backup: CompleteEtcdBackup | undefined): WorkerPolicy {
  return backup === undefined ? spec.worker : { ...backup.spec.worker, ...spec.worker };
}

export const stalledAfterSeconds = ({ spec }: CompleteEtcdRestore): number =>
  spec.timeoutInSecond > 0 ? spec.timeoutInSecond : 60;
