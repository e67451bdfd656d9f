// Parts of a status that EtcdBackup and EtcdRestore share.
import { array, boolean, defaulted, integer, object, oneOf, required, string } from "../schema/schema.ts";

export const conditions = (types: string) =>
  defaulted(
    [],
    array(
      "Conditions, for `kubectl wait`.",
      object("One statement that is true, false or unknown.", {
        type: required("", string(types)),
        status: required("Unknown", oneOf("Whether the condition holds.", ["True", "False", "Unknown"])),
        reason: required("", string("Why, in a word or two, for programs.")),
        message: defaulted("", string("Why, in a sentence, for people.")),
        lastTransitionTime: required(
          "",
          string("When the status last changed, as in 2026-01-31T12:00:00Z.", { format: "date-time" }),
        ),
        lastUpdateTime: string("When any field of this condition last changed."),
        observedGeneration: integer("The metadata.generation that this condition is based on."),
      }),
      { key: "type" },
    ),
  );

export const backupFacts = (description: string) =>
  object(description, {
    path: required("", string("Where it is, as `path` of an EtcdRestore takes it.")),
    takenAt: string("When etcd took the snapshot, at the latest, as in 2026-01-31T12:00:00Z."),
    sizeBytes: integer("Size of the object."),
    revision: integer("Everything up to this revision of etcd is in it."),
    hash: integer("etcd's hash of all keys at that revision (HashKV)."),
    sha256: string("Of the object."),
    etcdVersion: string("The etcd that it was taken from."),
    clusterID: string("etcd's id of the cluster that it was taken from. A restore in place makes another one."),
    storageVersion: string("The version of the data; since etcd 3.6."),
    keyId: string("The key that it is encrypted with. Absent: it is not encrypted."),
    auth: boolean("Whether etcd's own authentication was on. Absent: not known."),
  });
