// The spec of an EtcdRestore: the fields of etcd-operator 0.9 under their old names, and newer ones, which are optional.
import { decryption } from "../backups/encryption.ts";
import { storageType, storeFields, storeRules } from "../backups/stores.ts";
import { workerPolicy } from "../backups/worker-policy.ts";
import { specSchema as clusterSpec } from "../etcd-cluster/spec.ts";
import { nameOf } from "../rules.ts";
import {
  type CompleteOf,
  defaulted,
  integer,
  object,
  oneOf,
  required,
  type StoredOf,
  string,
} from "../schema/schema.ts";
import * as rules from "./rules.ts";

export const specSchema = object(
  "Backup to restore, and the cluster to restore it into.",
  {
    etcdCluster: required(
      { name: "" },
      object(
        "EtcdCluster to restore into. If it exists, its data is replaced, and the EtcdRestore must have the same name. If it does not exist, it is created with `clusterSpec`.",
        {
          name: required(
            "",
            string("Name of the EtcdCluster, in the namespace of the EtcdRestore.", {
              longest: 52,
              rules: [nameOf("spec.etcdCluster.name", "an EtcdCluster", "EtcdRestore")],
            }),
          ),
        },
      ),
    ),
    backup: object(
      "EtcdBackup that made the backup. It says where the backup is and which keys encrypt it. Cannot be combined with `backupStorageType`.",
      {
        name: required(
          "",
          string("Name of the EtcdBackup, in the namespace of the EtcdRestore.", {
            longest: 253,
            rules: [nameOf("spec.backup.name", "an EtcdBackup", "EtcdRestore")],
          }),
        ),
      },
    ),
    backupStorageType: storageType(
      "Type of store. The field of the same name says where in the store the backup is. Cannot be combined with `backup`.",
    ),
    ...storeFields,
    before: string(
      "Time before which etcd must have taken the snapshot, for example 2026-01-31T12:00:00Z; the newest such backup is restored. `path` is then the prefix of the object keys. A backup without metadata counts from the time when its upload was complete. If backups of several etcd clusters qualify, none is restored. If unset, the object that `path` names is restored; with `backup`, the newest backup.",
      { longest: 64, rules: [rules.timeForm] },
    ),
    clusterSpec: {
      ...clusterSpec,
      description: "Spec of the EtcdCluster to create if none with that name exists.",
    },
    revisionBump: integer(
      "Number that is added to the revision of etcd, from 0 to 1000000000000; earlier revisions are marked as compacted, so that watchers notice the restore. 0 keeps the revision of the backup, and watchers do not notice. If unset, a cluster that is replaced continues beyond the highest revision ever seen in it, and a new cluster keeps the revision of the backup.",
      { min: 0, max: 1_000_000_000_000 },
    ),
    safetySnapshot: defaulted(
      "Take",
      oneOf(
        "Whether to save the data of a cluster before it is replaced, if not all its members have their data in volumes. Take: a snapshot is saved beside the backup, if any member can give one. Skip: no snapshot is saved.",
        ["Take", "Skip"],
      ),
    ),
    timeoutInSecond: defaulted(
      0,
      integer("Number of seconds without progress after which a download fails; 0 means 60.", { min: 0 }),
    ),
    encryption: decryption,
    worker: workerPolicy,
  },
  { rules: [rules.sourceMissing, rules.backupOrStore, ...storeRules("backupStorageType")] },
);

export type EtcdRestoreSpec = StoredOf<typeof specSchema>;
export type CompleteSpec = CompleteOf<typeof specSchema>;
