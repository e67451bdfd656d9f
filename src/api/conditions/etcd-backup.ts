// The conditions of an EtcdBackup, and all that can be wrong with one.
import { conditionsOf, degraded, progressing, type Reasons, settled, stalled, suspended } from "./reason.ts";

/** They hold as long as they are seen. */
export const seenProblems = {
  InvalidSpec: stalled({
    when: "The spec asks for something that cannot work.",
    whatToDo: "Change the field that the message names.",
    event: "invalidSpec",
  }),
  ClusterMissing: degraded({
    when: "There is no EtcdCluster of the name in `spec.clusterRef`.",
    whatToDo: "Correct the name, or create the cluster; the backup then begins by itself.",
    event: "backupWaits",
  }),
  ClusterNotServing: progressing({
    when: "No member of the EtcdCluster has served yet.",
    whatToDo: "See to the EtcdCluster; the backup then begins by itself.",
    event: "backupWaits",
  }),
  ImageUnknown: degraded({
    when: "The operator does not know its own image, which workers run.",
    whatToDo: "Let it read its own pod, as example/rbac does, or start it with `-worker-image`.",
    event: "backupWaits",
  }),
  WorkerCannotStart: degraded({
    when: "The pod that does the work does not come up.",
    whatToDo: "Do what the message says: most often a Secret is missing, or its name is wrong.",
    event: "workerCannotStart",
  }),
  Refused: degraded({
    when: "Kubernetes refuses the worker.",
    whatToDo: "Do what the message says; it quotes the refusal.",
    event: "refused",
  }),
  DeletionFailed: degraded({
    when: "The EtcdBackup is being deleted, and its backups cannot be.",
    whatToDo:
      "Do what the message says, or set `spec.deletionPolicy: Retain`. After an hour the EtcdBackup goes by itself and leaves its backups in the store.",
    event: "backupsNotDeleted",
  }),
} as const satisfies Reasons;

/** They hold until a run has succeeded. How a run ends makes its own event. */
export const lastingProblems = {
  AttemptFailed: progressing({ when: "An attempt failed, and another one follows." }),
  BackupFailed: degraded({
    when: "A run has failed, with all its attempts.",
    whatToDo: "Do what the message says.",
    runbook: "EtcdBackupFailing",
  }),
  VerificationFailed: degraded({
    when: "A backup is complete, and could not be proved by a restore.",
    whatToDo: "Do what the message says, and have another backup taken.",
    runbook: "EtcdBackupVerificationFailed",
  }),
  PruningStopped: degraded({
    when: "A backup is complete, and older ones of its series are of another etcd cluster or have a higher revision, or the member that gave it could not read through a quorum. No backup is deleted.",
    whatToDo:
      "If data was lost, restore an older backup by its path. If the change is intended, set `spec.backupPolicy.releaseBefore` to the time in the message.",
  }),
} as const satisfies Reasons;

const problems = { ...seenProblems, ...lastingProblems };

export const etcdBackupConditions = conditionsOf({
  Complete: {
    trueWhen: "the last backup is complete: it was read back and compared with what etcd sent",
    reasons: {
      True: { Succeeded: settled({ when: "The last backup is complete." }) },
      False: {
        ...problems,
        Pending: progressing({ when: "The run has yet to begin." }),
        Scheduled: settled({ when: "The first run has its time." }),
        Suspended: suspended({ when: "No backups begin while `spec.backupPolicy.suspend` is true." }),
        Running: progressing({ when: "A worker takes the backup." }),
        Verifying: progressing({ when: "A worker proves the backup by a restore." }),
        Failed: stalled({
          when: "The only run has failed.",
          whatToDo: "Do what the message says.",
          runbook: "EtcdBackupFailing",
        }),
        Deleting: progressing({ when: "The backups are being deleted, as `spec.deletionPolicy` says." }),
      },
    },
  },
  Problem: {
    trueWhen: "something is wrong. Some of it holds while it is seen, the rest until a run has succeeded",
    reasons: { True: problems, False: { None: settled({ when: "Nothing is wrong." }) } },
  },
  Reconciling: {
    trueWhen: "there is no backup yet and one is under way, or the backups are being deleted",
    reasons: { as: "Complete" },
  },
  Stalled: {
    trueWhen: "it has failed and is not tried again by itself",
    reasons: { as: "Complete" },
  },
  Verified: {
    trueWhen: "the newest backup was restored into a throwaway member, which had the right revision and hash",
    present: "only with `spec.verify.restore`",
    reasons: {
      True: { Restored: settled({ when: "Revision and hash are as they must be." }) },
      False: { VerificationFailed: lastingProblems.VerificationFailed },
    },
  },
});
