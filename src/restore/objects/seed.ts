// What the first members of a restored cluster are made from: the job of the init container that makes its data. The cluster
// controller puts it into the seed's pod.
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { dataDirectory } from "../../cluster/objects/etcd-command.ts";
import type { ProvedSnapshot, RestoreJob } from "../../worker/job.ts";
import type { WorkerTask } from "../../worker/pod.ts";
import { backupPlace, readOnly, stalledAfterSeconds } from "./backup-place.ts";
import { createHash } from "node:crypto";
import { specSchema } from "../../api/etcd-restore/spec.ts";
import { sparse } from "../../api/schema/sparse.ts";

/**
 * How far past the highest revision that is known. More than the status of a cluster is behind (cluster/report/status.ts), and
 * than can be written between the last read of the members and their end.
 */
const margin = 1_000_000_000;

/**
 * `backup` is the EtcdBackup that `spec.backup` names. Throws a RangeError before the backup was proved, and when the
 * EtcdBackup is missing: then nobody knows any more where the backup is.
 */
export function restoreJobOf(
  restore: CompleteEtcdRestore,
  backup: CompleteEtcdBackup | undefined,
  member: RestoreJob["member"],
  targetVersion: string,
  highestRevision: number,
): WorkerTask<RestoreJob> {
  const { key, backup: proved } = restore.status;
  const sha256 = proved?.sha256;
  if (key === undefined || sha256 === undefined) throw new RangeError("the backup has not been proved");
  const { place, sealed } = backupPlace(restore, backup);
  const found = foundIn(restore);
  return {
    job: {
      do: "restore",
      store: place.target,
      key,
      sha256,
      ...(found !== undefined && { proved: found }),
      ...(proved?.sizeBytes !== undefined && { expectedBytes: proved.sizeBytes }),
      ...(sealed.encryption && { encryption: sealed.encryption }),
      targetVersion,
      member,
      token: restore.metadata.uid ?? "",
      dataDir: dataDirectory,
      bumpRevision: bumpPast(restore, proved?.revision ?? 0, highestRevision),
      stalledAfterSeconds: stalledAfterSeconds(restore),
    },
    mounts: readOnly([...place.mounts, ...sealed.mounts]),
  };
}

/** For members that begin again: they are no part of the cluster that was begun before. */
export const tokenOf = (uid: string, attempt: number): string => `${uid}/${attempt}`;

/** Whether data that is made with this token is that of this EtcdRestore. */
export const isTokenOf = (token: string, uid: string): boolean => token === uid || token.startsWith(`${uid}/`);

/** Undefined: it was checked by a release that did not write all of it down. */
function foundIn({ status: { backup, keys } }: CompleteEtcdRestore): ProvedSnapshot | undefined {
  const { revision, storageVersion } = backup ?? {};
  if (revision === undefined || keys === undefined) return undefined;
  return { revision, keys, ...(storageVersion !== undefined && { storageVersion }) };
}

/** At least so much: recorded when the backup was proved, and an edit changes nothing of a restore that has begun. */
export const bumpOf = ({ status }: CompleteEtcdRestore): number => status.revisionBump ?? 0;

/**
 * By how much the revision of the backup is raised, so that it lies past all that clients have seen of the cluster: watchers
 * are told that what they wait for is compacted, and nobody sees a revision twice. What a person asks for is taken as it is.
 *
 * A backup of revision 500 in place of a cluster at 700: by 200 + 10⁹. Again, when that is at 10⁹ + 900: by 400 + 2·10⁹.
 */
export function bumpPast({ spec, status }: CompleteEtcdRestore, revision: number, highest: number): number {
  if (spec.revisionBump !== undefined) return status.revisionBump ?? spec.revisionBump;
  return status.inPlace === true ? Math.max(0, highest - revision) + margin : 0;
}

/** Undefined: it is large enough, or nothing was asked for; 0 asks for the revision of the backup. */
export function tooSmallBump(
  { spec, status }: CompleteEtcdRestore,
  revision: number,
  highest: number,
): string | undefined {
  const { revisionBump: asked } = spec;
  if (status.inPlace !== true || asked === undefined || asked === 0 || revision + asked > highest) return undefined;
  return `spec.revisionBump is ${asked}, and the cluster has been at revision ${highest}: with the backup's revision ${revision} that would repeat revisions that clients have seen. Leave it out, or set it to at least ${highest - revision + 1}.`;
}

/** The same with and without defaults, and in a release that adds some. It is stored in the status of clusters. */
export const specDigest = (spec: CompleteEtcdRestore["spec"]): string =>
  createHash("sha256")
    .update(JSON.stringify(sparse(specSchema, spec)))
    .digest("hex");
