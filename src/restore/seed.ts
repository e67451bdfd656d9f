// What the first member of a restored cluster is made from: the job of the init container that makes its data. The cluster
// controller puts it into the seed's pod.
import type { CompleteEtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import type { CompleteEtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import { dataDirectory } from "../cluster/objects/etcd-command.ts";
import type { RestoreJob } from "../worker/job.ts";
import type { Mount } from "../worker/mounts.ts";
import { backupPlace, readOnly, stalledAfterSeconds } from "./place.ts";

/** What watchers and caches of applications have seen of a cluster that is replaced lies below. */
const bumpInPlace = 1_000_000_000;

export interface SeedJob {
  readonly job: RestoreJob;
  readonly mounts: readonly Mount[];
}

/**
 * `backup` is the EtcdBackup that `spec.backup` names. Throws a RangeError before the backup was proved, and when the
 * EtcdBackup is missing: then nobody knows any more where the backup is.
 */
export function restoreJobOf(
  restore: CompleteEtcdRestore,
  backup: CompleteEtcdBackup | undefined,
  member: RestoreJob["member"],
  targetVersion: string,
): SeedJob {
  const { key, backup: proved } = restore.status;
  const sha256 = proved?.sha256;
  if (key === undefined || sha256 === undefined) throw new RangeError("the backup has not been proved");
  const { place, sealed } = backupPlace(restore, backup);
  return {
    job: {
      do: "restore",
      store: place.target,
      key,
      sha256,
      ...(sealed.encryption && { encryption: sealed.encryption }),
      targetVersion,
      member,
      token: restore.metadata.uid ?? "",
      dataDir: dataDirectory,
      bumpRevision: bumpOf(restore),
      stalledAfterSeconds: stalledAfterSeconds(restore),
    },
    mounts: readOnly([...place.mounts, ...sealed.mounts]),
  };
}

/** Recorded when the backup was proved: an edit changes nothing of a restore that has begun. */
export function bumpOf({ spec, status }: CompleteEtcdRestore): number {
  return status.revisionBump ?? spec.revisionBump ?? (status.inPlace === true ? bumpInPlace : 0);
}
