// The status of an EtcdBackup. The first five fields are those of etcd-operator 0.9, the capital included.
import { backupFacts, conditions, when } from "../backups/status.ts";
import {
  array,
  boolean,
  type CompleteOf,
  defaulted,
  integer,
  object,
  observedGeneration,
  oneOf,
  required,
  type StoredOf,
  string,
} from "../schema/schema.ts";

export const phases = [
  "Pending",
  "Scheduled",
  "Suspended",
  "Running",
  "Verifying",
  "Succeeded",
  "Failed",
  "Deleting",
] as const;

export const statusSchema = object("Observed state of the backup. Only the operator writes it.", {
  succeeded: defaulted(false, boolean("Whether the last run succeeded.")),
  Reason: string("Reason why the last run failed, and what to do."),
  etcdVersion: string("Version of etcd in the last backup."),
  etcdRevision: integer("Revision of etcd up to which the last backup contains everything."),
  lastSuccessDate: when("Time at which the last backup was completed"),
  phase: oneOf(
    "Phase of the backup. Pending: the run has not started yet. Running, Verifying: a worker is active. Scheduled: the next run is planned. Suspended: no run starts by itself while backupPolicy.suspend is true. Succeeded, Failed: the only run is over. Deleting: the backups are being deleted, as deletionPolicy says.",
    phases,
  ),
  message: string("Current activity, or what is wrong and what to do, as a sentence for people."),
  conditions: conditions("Complete, Reconciling, Stalled, Verified or Problem."),
  observedGeneration: observedGeneration("metadata.generation that this status is based on."),
  nextRun: when("Time at which the next backup starts"),
  run: object("Run in progress.", {
    id: required("", string("ID of the run.")),
    trigger: required("", string("Cause of the run: Once, Interval, Schedule, Annotation or Deletion.")),
    startedAt: required("", when("Time at which the run started")),
    attempt: defaulted(1, integer("Number of the current attempt, from 1.")),
    step: defaulted("Backup", oneOf("Current step of the run.", ["Backup", "Verify", "Delete"])),
    pod: string("Name of the worker pod; `kubectl logs` shows its progress."),
    notBefore: when("Time at which the next attempt starts"),
    path: string("Path of the backup that is being verified."),
  }),
  lastBackup: backupFacts("Last completed backup."),
  lastVerified: object("Last backup that was verified by a restore into a throwaway member.", {
    path: required("", string("Path of the backup.")),
    takenAt: when("Time at which the backup was taken"),
    verifiedAt: when("Time at which it was verified"),
    durationSeconds: integer("Duration of the verification in seconds."),
    revision: integer("Revision of the restored member."),
    hash: integer(
      "Hash of the restored member at the revision of the backup. Unset for etcd 3.2, which has no such hash.",
    ),
  }),
  history: defaulted(
    [],
    array(
      "Last 10 runs, newest first.",
      object("Finished run.", {
        id: required("", string("ID of the run.")),
        trigger: string("Cause of the run: Once, Interval, Schedule or Annotation."),
        startedAt: when("Time at which the run started"),
        durationSeconds: integer("Duration of the run in seconds, with all attempts."),
        result: required("Failed", oneOf("Result of the run.", ["Succeeded", "Failed"])),
        path: string("Path of the backup that the run made."),
        sizeBytes: integer("Size of that backup in bytes."),
        message: string("Explanation of a failure, or a remark, as a sentence for people."),
      }),
      { most: 10 },
    ),
  ),
  backups: integer("Number of backups of this series in the store."),
  failures: integer("Number of failed runs since the last successful one."),
  lastScheduleTime: when("Time of the schedule or interval for which a run last started"),
  handledRequest: string("Last value of the annotation `etcd.database.coreos.com/backup-now` for which a run started."),
});

export type EtcdBackupStatus = StoredOf<typeof statusSchema>;
export type CompleteStatus = CompleteOf<typeof statusSchema>;
