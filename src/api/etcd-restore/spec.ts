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
  "What to restore, and into which cluster.",
  {
    etcdCluster: required(
      { name: "" },
      object(
        "The EtcdCluster. If it exists its data is replaced, and then the EtcdRestore must have the same name. If not, `clusterSpec` says what to create.",
        {
          name: required(
            "",
            string("Its name, in the namespace of the EtcdRestore.", {
              longest: 52,
              rules: [nameOf("spec.etcdCluster.name", "an EtcdCluster", "EtcdRestore")],
            }),
          ),
        },
      ),
    ),
    backup: object("The EtcdBackup that made the backup: says where it is, and with which keys it is encrypted.", {
      name: required(
        "",
        string("Its name, in the namespace of the EtcdRestore.", {
          longest: 253,
          rules: [nameOf("spec.backup.name", "an EtcdBackup", "EtcdRestore")],
        }),
      ),
    }),
    backupStorageType: storageType("The kind of store. Not needed with `backup`."),
    ...storeFields,
    before: string(
      "Take the newest backup whose snapshot etcd took before this time, as in 2026-01-31T12:00:00Z; `path` is then what the keys begin with. A backup without metadata counts from when the store had all of it. Where backups of several etcd clusters qualify, none is taken. Absent: the object that `path` names; with `backup`, the newest.",
      { longest: 64, rules: [rules.timeForm] },
    ),
    clusterSpec: {
      ...clusterSpec,
      description: "The spec of the EtcdCluster to create, where there is none of that name.",
    },
    revisionBump: integer(
      "Raises etcd's revision by so much and marks what was before as compacted, so that watchers notice that time went back. Absent: past the highest revision that was ever seen of the cluster where one is replaced, 0 for a new one. 0: the revision is that of the backup, and watchers are not told.",
      { min: 0, max: 1_000_000_000_000 },
    ),
    safetySnapshot: defaulted(
      "Take",
      oneOf(
        "Take: before a cluster is replaced whose members do not all have their data in volumes, what it holds is saved beside the backup, if any member can give it. Skip: it is not.",
        ["Take", "Skip"],
      ),
    ),
    timeoutInSecond: defaulted(
      0,
      integer("A download that makes no progress for so many seconds has failed; 0: 60.", { min: 0 }),
    ),
    encryption: decryption,
    worker: workerPolicy,
  },
  { rules: [rules.sourceMissing, rules.backupOrStore, ...storeRules("backupStorageType")] },
);

export type EtcdRestoreSpec = StoredOf<typeof specSchema>;
export type CompleteSpec = CompleteOf<typeof specSchema>;
