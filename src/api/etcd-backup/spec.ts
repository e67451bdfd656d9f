// The spec of an EtcdBackup: the fields of etcd-operator 0.9 under their old names, and newer ones, which are optional.
import { encryption } from "../backups/encryption.ts";
import { storageType, storeFields, storeRules } from "../backups/stores.ts";
import { workerPolicy } from "../backups/worker-policy.ts";
import { nameOf } from "../rules.ts";
import {
  array,
  boolean,
  type CompleteOf,
  defaulted,
  filled,
  integer,
  object,
  oneOf,
  required,
  type StoredOf,
  string,
} from "../schema/schema.ts";
import * as rules from "./rules.ts";

const secret = (path: string, description: string) =>
  string(description, { longest: 253, rules: [nameOf(`spec.${path}`, "a Secret", "EtcdBackup")] });

const backupPolicy = object(
  "When backups are taken, and how long they are kept. Absent: one backup, now.",
  {
    timeoutInSecond: defaulted(
      0,
      integer("A backup that makes no progress for so many seconds has failed; 0: 60. The whole may take any time."),
    ),
    backupIntervalInSecond: defaulted(
      0,
      integer("Take one every so many seconds, the first at once. 0: one only.", { rules: [rules.interval] }),
    ),
    schedule: string(
      "Take one at these times, in the form of cron: minute, hour, day of the month, month, day of the week, as in `0 3 * * *`; or @hourly, @daily, @weekly, @monthly.",
      { longest: 256 },
    ),
    timeZone: string("The zone of `schedule`, as in Europe/Berlin. Absent: UTC.", { longest: 128 }),
    jitterInSecond: defaulted(
      0,
      integer("Begin up to so many seconds later, by chance, so that many clusters do not begin at once.", { min: 0 }),
    ),
    suspend: defaulted(false, boolean("Begin no more backups. One that runs goes on.")),
    maxBackups: defaulted(
      0,
      integer(
        "The number of newest backups to keep; 0 keeps all. Nothing is deleted while older backups belong to another etcd cluster.",
        {
          rules: [rules.maxBackups],
        },
      ),
    ),
    maxAgeInSecond: defaulted(
      0,
      integer("Delete what is older. The newest stays, and the last verified one. 0: no limit.", { min: 0 }),
    ),
    releaseBefore: string(
      "Backups from before this time, as in 2026-01-31T12:00:00Z, count as part of the series even if they are of another etcd cluster or have a higher revision: newer backups may replace them. The condition Problem says when to set it, with the reason PruningStopped.",
      { longest: 64, rules: [rules.releaseTime] },
    ),
  },
  { rules: [rules.intervalOrSchedule, rules.zoneOfSchedule] },
);

export const specSchema = object(
  "The backup to take, or the series of backups.",
  {
    etcdEndpoints: array(
      "Client URLs of etcd. The most advanced member that answers is asked, rather a follower. Instead of `clusterRef`.",
      string("As in https://example-client:2379.", { longest: 1024, rules: [rules.endpointForm] }),
      { most: 64 },
    ),
    clusterRef: object("The EtcdCluster to back up. Certificates and login are those of the operator.", {
      name: required(
        "",
        string("Its name, in the same namespace.", {
          longest: 253,
          rules: [nameOf("spec.clusterRef.name", "an EtcdCluster", "EtcdBackup")],
        }),
      ),
    }),
    storageType: required("S3", storageType("The kind of store; the field of the same name says where in it.")),
    ...storeFields,
    clientTLSSecret: secret(
      "clientTLSSecret",
      "With `etcdEndpoints`: Secret with `etcd-client.crt`, `etcd-client.key` and `etcd-client-ca.crt`, or with `tls.crt`, `tls.key` and `ca.crt`.",
    ),
    authSecret: secret(
      "authSecret",
      "With `etcdEndpoints`: Secret with `username` and `password` of an etcd user with the role root, where etcd asks for a login.",
    ),
    allowLoginOverHTTP: defaulted(
      false,
      boolean(
        "Send the login of `authSecret` to endpoints with `http://`, too, where others on the way can read and use it.",
      ),
    ),
    backupPolicy: filled(backupPolicy),
    verify: filled(
      object("What is done to trust a backup. It is always read back and compared with what was sent.", {
        restore: defaulted(
          false,
          boolean(
            "Restore each backup into a throwaway member of the same etcd version, and compare revision and hash.",
          ),
        ),
        image: string(
          "The etcd image of that member. Absent: that of the EtcdCluster; with `etcdEndpoints`, `quay.io/coreos/etcd` of the version that was backed up.",
          { longest: 1024 },
        ),
      }),
    ),
    encryption,
    deletionPolicy: defaulted(
      "Retain",
      oneOf("What happens to the backups when this EtcdBackup is deleted.", ["Retain", "Delete"]),
    ),
    worker: workerPolicy,
  },
  { rules: [rules.endpointsMissing, rules.endpointsOrCluster, rules.loginOverTls, ...storeRules("storageType")] },
);

export type EtcdBackupSpec = StoredOf<typeof specSchema>;
export type CompleteSpec = CompleteOf<typeof specSchema>;
