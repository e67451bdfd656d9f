// Parts of a status that EtcdBackup and EtcdRestore share.
import { array, boolean, defaulted, integer, object, oneOf, required, string } from "../schema/schema.ts";

export const when = (description: string) => string(`${description}, for example 2026-01-31T12:00:00Z.`);

export const conditions = (types: string) =>
  defaulted(
    [],
    array(
      "Conditions of the object, for `kubectl wait`.",
      object("Condition of the object.", {
        type: required("", string(`Type of the condition: ${types}`)),
        status: required("Unknown", oneOf("Status of the condition.", ["True", "False", "Unknown"])),
        reason: required("", string("Reason for the status, as a CamelCase word for programs.")),
        message: defaulted("", string("Explanation of the status, as a sentence for people.")),
        lastTransitionTime: required(
          "",
          string("Time at which the status last changed, for example 2026-01-31T12:00:00Z.", { format: "date-time" }),
        ),
        lastUpdateTime: string("Time at which any field of this condition last changed."),
        observedGeneration: integer("metadata.generation that this condition is based on."),
      }),
      { key: "type" },
    ),
  );

export const backupFacts = (description: string) =>
  object(description, {
    path: required("", string("Path of the backup, in the form of `path` of an EtcdRestore.")),
    takenAt: string("Latest time at which etcd can have taken the snapshot, for example 2026-01-31T12:00:00Z."),
    sizeBytes: integer("Size of the object in bytes."),
    revision: integer("Revision of etcd up to which the backup contains everything."),
    hash: integer("Hash of all keys at that revision, as etcd computes it (HashKV)."),
    sha256: string("SHA-256 digest of the object."),
    etcdVersion: string("Version of the etcd that the backup was taken from."),
    clusterID: string(
      "etcd cluster ID of the cluster that the backup was taken from. A restore in place creates a new ID.",
    ),
    storageVersion: string("Storage version of the data; etcd 3.6 and later."),
    keyId: string("ID of the key that the backup is encrypted with. Unset if it is not encrypted."),
    auth: boolean("Whether etcd authentication was enabled. Unset if it is not known."),
  });
