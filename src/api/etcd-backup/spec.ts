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
  "When backups are taken, and how long they are kept. If unset, one backup is taken immediately.",
  {
    timeoutInSecond: defaulted(
      0,
      integer(
        "Number of seconds without progress after which an attempt fails; 0 means 60. The total time of an attempt is limited only by `worker.deadlineSeconds`.",
      ),
    ),
    backupIntervalInSecond: defaulted(
      0,
      integer(
        "Interval between backups in seconds; the first is taken immediately. 0 takes a single backup. Cannot be combined with `schedule`.",
        { rules: [rules.interval] },
      ),
    ),
    schedule: string(
      "Schedule in Cron format: minute, hour, day of the month, month, day of the week, for example `0 3 * * *`; or @hourly, @daily, @weekly or @monthly. Cannot be combined with `backupIntervalInSecond`.",
      { longest: 256 },
    ),
    timeZone: string("Time zone of `schedule`, for example Europe/Berlin. If unset, UTC. Requires `schedule`.", {
      longest: 128,
    }),
    jitterInSecond: defaulted(
      0,
      integer(
        "Maximum random delay in seconds before a backup starts, so that the backups of many clusters do not start at the same time.",
        { min: 0 },
      ),
    ),
    suspend: defaulted(
      false,
      boolean(
        "Whether backups are suspended. A running backup continues, and the annotation `etcd.database.coreos.com/backup-now` still takes a backup.",
      ),
    ),
    maxBackups: defaulted(
      0,
      integer(
        "Number of newest backups to keep; 0 keeps all. Nothing is deleted while older backups belong to another etcd cluster.",
        {
          rules: [rules.maxBackups],
        },
      ),
    ),
    maxAgeInSecond: defaulted(
      0,
      integer(
        "Age in seconds after which backups are deleted; 0 means no limit. The newest backup and the last verified one are always kept.",
        { min: 0 },
      ),
    ),
    releaseBefore: string(
      "Time before which backups count as part of the series even if they belong to another etcd cluster or have a higher revision, for example 2026-01-31T12:00:00Z. Newer backups may replace them. Set it when the condition Problem says so, with the reason PruningStopped.",
      { longest: 64, rules: [rules.releaseTime] },
    ),
  },
  { rules: [rules.intervalOrSchedule, rules.zoneOfSchedule] },
);

export const specSchema = object(
  "Backup to take, or series of backups.",
  {
    etcdEndpoints: array(
      "Client URLs of the etcd members, at most 64. The backup comes from the most up-to-date member, preferably a follower; unreachable members are skipped. Cannot be combined with `clusterRef`.",
      string("Client URL, for example https://example-client:2379.", { longest: 1024, rules: [rules.endpointForm] }),
      { most: 64 },
    ),
    clusterRef: object(
      "EtcdCluster to back up. The worker uses the operator's certificates and login. Cannot be combined with `etcdEndpoints`.",
      {
        name: required(
          "",
          string("Name of the EtcdCluster, in the namespace of the EtcdBackup.", {
            longest: 253,
            rules: [nameOf("spec.clusterRef.name", "an EtcdCluster", "EtcdBackup")],
          }),
        ),
      },
    ),
    storageType: required("S3", storageType("Type of store. The field of the same name says where in the store.")),
    ...storeFields,
    clientTLSSecret: secret(
      "clientTLSSecret",
      "Name of the Secret with the client certificate for `etcdEndpoints`: `etcd-client.crt`, `etcd-client.key` and `etcd-client-ca.crt`, or `tls.crt`, `tls.key` and `ca.crt`.",
    ),
    authSecret: secret(
      "authSecret",
      "Name of the Secret with `username` and `password` of an etcd user with the role root, for `etcdEndpoints` with authentication enabled.",
    ),
    allowLoginOverHTTP: defaulted(
      false,
      boolean(
        "Whether to send the login in `authSecret` to `http://` endpoints as well, where others can read it in transit and use it.",
      ),
    ),
    backupPolicy: filled(backupPolicy),
    verify: filled(
      object(
        "Verification of backups. Every backup is read back and compared with what was sent, regardless of these settings.",
        {
          restore: defaulted(
            false,
            boolean(
              "Whether to restore each backup into a throwaway member of the same etcd version, and to compare revision and hash.",
            ),
          ),
          image: string(
            "etcd image of that member. If unset, the image of the EtcdCluster; with `etcdEndpoints`, `quay.io/coreos/etcd` in the version that was backed up.",
            { longest: 1024 },
          ),
        },
      ),
    ),
    encryption,
    deletionPolicy: defaulted(
      "Retain",
      oneOf("What happens to the backups in the store when the EtcdBackup is deleted.", ["Retain", "Delete"]),
    ),
    worker: workerPolicy,
  },
  { rules: [rules.endpointsMissing, rules.endpointsOrCluster, rules.loginOverTls, ...storeRules("storageType")] },
);

export type EtcdBackupSpec = StoredOf<typeof specSchema>;
export type CompleteSpec = CompleteOf<typeof specSchema>;
