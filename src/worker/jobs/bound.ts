// Whether an encrypted object is the one that was asked for. What it is a copy of is authenticated with it; the metadata
// beside it is not, so that metadata which says something else was changed.
import type { SealedOf } from "../../seal/sealed-of.ts";
import type { Encryption } from "../job.ts";
import { WorkerFailure } from "../program/failure.ts";
import type { Metadata } from "./kept/metadata.ts";

export function refuseOther(of: SealedOf, key: string, { copied, cluster }: Encryption): void {
  if (!keysOf(key, copied).includes(of.key))
    throw new WorkerFailure(
      "tampered",
      `${key} was encrypted under the key ${of.key}${copied ? `, not under ${keysOf(key, copied)[0]}` : ""}: it was copied, renamed or replaced. If it was copied on purpose, set spec.encryption.originalKey of the EtcdRestore to ${of.key}.`,
    );
  if (cluster && of.cluster && (cluster.namespace !== of.cluster.namespace || cluster.name !== of.cluster.name))
    throw new WorkerFailure(
      "tampered",
      `${key} is a backup of the EtcdCluster ${of.cluster.namespace}/${of.cluster.name}, and the EtcdBackup is for ${cluster.namespace}/${cluster.name}: it may have been replaced. To restore it on purpose, name the object itself in the EtcdRestore, with spec.backupStorageType instead of spec.backup.`,
    );
}

/** Under which it may have been encrypted: of a copy the original's, whole or with what follows the path. */
function keysOf(key: string, copied: Encryption["copied"]): string[] {
  if (copied === undefined) return [key];
  const { path, originalKey } = copied;
  return key.startsWith(path) ? [`${originalKey}${key.slice(path.length)}`, originalKey] : [originalKey];
}

/** Only what both say is compared: metadata of other versions says more or less. */
export function refuseOtherMetadata(of: SealedOf, metadata: Metadata): void {
  const differs = ([sealed, said]: readonly [unknown, unknown]): boolean =>
    sealed !== undefined && said !== undefined && sealed !== said;
  const compared: Readonly<Record<string, readonly [unknown, unknown]>> = {
    "cluster id": [of.clusterId, metadata.clusterId],
    revision: [of.revision, metadata.revision],
    time: [of.takenAt, metadata.takenAt],
    "time of the snapshot": [of.snapshotAt, metadata.snapshotAt],
    namespace: [of.cluster?.namespace, metadata.cluster?.namespace],
    EtcdCluster: [of.cluster?.name, metadata.cluster?.name],
    uid: [of.cluster?.uid, metadata.cluster?.uid],
  };
  for (const [what, [sealed, said]] of Object.entries(compared))
    if (differs([sealed, said]))
      throw new WorkerFailure(
        "tampered",
        `${metadata.key}.json was changed after it was written: it says ${String(said)} for the ${what}, and the encrypted backup says ${String(sealed)}. Delete the .json if you trust the backup without it, or use another backup.`,
      );
}
