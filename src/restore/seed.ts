// What the first member of a restored cluster is told: which backup to make its data from.
import type { CompleteEtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import type { CompleteEtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import type { RestoreJob } from "../worker/job.ts";
import { encryptionOf, type Mount, placeOf } from "../worker/mounts.ts";

export interface SeedOrder {
  readonly job: RestoreJob;
  readonly mounts: readonly Mount[];
}

/** So much are revisions raised where a cluster is replaced, so that watchers notice that time went back. */
export const usualBump = 1_000_000_000;

/** `backup`: the one that the EtcdRestore names. Throws where the check has not found a backup yet. */
export function restoreJobOf(
  { metadata, spec, status }: CompleteEtcdRestore,
  backup: CompleteEtcdBackup | undefined,
  member: RestoreJob["member"],
  targetVersion: string,
): SeedOrder {
  const { key, backup: found } = status;
  const type = backup?.spec.storageType ?? spec.backupStorageType;
  if (key === undefined || found?.sha256 === undefined || type === undefined)
    throw new RangeError(`the EtcdRestore ${metadata.name} has not found its backup yet`);
  const place = placeOf(type, backup?.spec ?? spec);
  const sealed = encryptionOf(spec.encryption ?? backup?.spec.encryption);
  return {
    job: {
      do: "restore",
      store: place.target,
      key,
      sha256: found.sha256,
      ...(sealed.encryption !== undefined && { encryption: sealed.encryption }),
      targetVersion,
      member,
      token: metadata.uid ?? "",
      dataDir: "/var/etcd/data",
      bumpRevision: spec.revisionBump ?? (status.inPlace === true ? usualBump : 0),
      stalledAfterSeconds: spec.timeoutInSecond || 60,
    },
    mounts: [...place.mounts, ...sealed.mounts],
  };
}
