// The conditions of an EtcdBackup, and all that can be wrong with one.
import { conditionsOf, degraded, progressing, type Reasons, settled, stalled, suspended } from "./reason.ts";

/** They hold as long as they are seen. */
const seenProblems = {
  InvalidSpec: stalled({
    when: "The spec asks for something that cannot work.",
    whatToDo: "Change the field that the message names.",
    event: "invalidSpec",
  }),
  ClusterMissing: degraded({
    when: "The EtcdCluster in `spec.clusterRef` does not exist.",
    whatToDo: "Correct the name, or create the cluster; the backup then starts by itself.",
    event: "backupWaits",
  }),
  ClusterNotServing: progressing({
    when: "No member of the EtcdCluster has served yet.",
    whatToDo: "Check the EtcdCluster; the backup starts once a member serves.",
    event: "backupWaits",
  }),
  ImageUnknown: degraded({
    when: "The operator does not know its own image, which workers run.",
    whatToDo: "Grant it permission to read its own pod, as example/rbac does, or start it with `-worker-image`.",
    event: "backupWaits",
  }),
  WorkerCannotStart: degraded({
    when: "The worker's pod does not start.",
    whatToDo: "Do what the message says: most often a Secret is missing, or its name is wrong.",
    event: "workerCannotStart",
  }),
  Refused: degraded({
    when: "Kubernetes refuses the worker.",
    whatToDo: "Do what the message says; it quotes the refusal.",
    event: "refused",
  }),
  DeletionFailed: degraded({
    when: "The EtcdBackup is being deleted, but the operator cannot delete its backups.",
    whatToDo:
      "Do what the message says, or set `spec.deletionPolicy: Retain`. After an hour the operator lets the EtcdBackup go and leaves its backups in the store.",
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
    when: "A backup is complete, but could not be verified by a restore.",
    whatToDo: "Do what the message says, then take another backup.",
    runbook: "EtcdBackupVerificationFailed",
  }),
  PruningStopped: degraded({
    when: "A backup is complete, but older ones of its series belong to a different etcd cluster or have a higher revision, or the member that provided it could not read through a quorum. The operator deletes no backup.",
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
        Pending: progressing({ when: "The run has not started yet." }),
        Scheduled: settled({ when: "The first run is scheduled." }),
        Suspended: suspended({ when: "No backup starts while `spec.backupPolicy.suspend` is true." }),
        Running: progressing({ when: "A worker takes the backup." }),
        Verifying: progressing({ when: "A worker verifies the backup by a restore." }),
        Failed: stalled({
          when: "The only run has failed.",
          whatToDo: "Do what the message says.",
          runbook: "EtcdBackupFailing",
        }),
        Deleting: progressing({ when: "The operator is deleting the backups, as `spec.deletionPolicy` says." }),
      },
    },
  },
  Problem: {
    trueWhen: "something is wrong. Some problems end when their cause does, the others with the next successful run",
    reasons: { True: problems, False: { None: settled({ when: "Nothing is wrong." }) } },
  },
  Reconciling: {
    trueWhen: "the first backup is in progress, or the operator is deleting the backups",
    reasons: { as: "Complete" },
  },
  Stalled: {
    trueWhen: "it has failed, and the operator does not retry it",
    reasons: { as: "Complete" },
  },
  Verified: {
    trueWhen: "the newest backup was restored into a throwaway member, which had the right revision and hash",
    present: "only with `spec.verify.restore`",
    reasons: {
      True: { Restored: settled({ when: "Revision and hash match." }) },
      False: { VerificationFailed: lastingProblems.VerificationFailed },
    },
  },
});
