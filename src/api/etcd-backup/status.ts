// The status of an EtcdBackup. The first five fields are those of etcd-operator 0.9, the capital included.
import { backupFacts, conditions } from "../backups/status.ts";
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

const when = (description: string) => string(`${description}, as in 2026-01-31T12:00:00Z.`);

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

export const statusSchema = object("What is known of the backup. Only the operator writes it.", {
  succeeded: defaulted(false, boolean("Whether the last run succeeded.")),
  Reason: string("Why it failed, and what to do."),
  etcdVersion: string("The version of etcd that was backed up last."),
  etcdRevision: integer("Everything up to this revision is in the last backup."),
  lastSuccessDate: when("When the last backup was complete"),
  phase: oneOf(
    "Pending: the run has yet to begin. Running, Verifying: a worker is at it. Scheduled: the next run has its time. Succeeded, Failed: the only run is over. Deleting: the backups are being deleted, as deletionPolicy says.",
    phases,
  ),
  message: string("What happens now, in a sentence."),
  conditions: conditions("Complete, Reconciling, Stalled, Verified or Problem."),
  observedGeneration: observedGeneration("The metadata.generation that this status is based on."),
  nextRun: when("When the next backup begins"),
  run: object("The run that is under way.", {
    id: required("", string("Tells runs apart.")),
    trigger: required("", string("Once, Interval, Schedule, Annotation or Deletion.")),
    startedAt: required("", when("When it began")),
    attempt: defaulted(1, integer("How often it has been tried.")),
    step: defaulted("Backup", oneOf("What its worker does.", ["Backup", "Verify", "Delete"])),
    pod: string("Its worker: `kubectl logs` shows the progress."),
    notBefore: when("When the next attempt begins"),
    path: string("The backup that is verified."),
  }),
  lastBackup: backupFacts("The last backup that was complete."),
  lastVerified: object("The last backup that was restored into a throwaway member.", {
    path: required("", string("Where it is.")),
    takenAt: when("When it was taken"),
    verifiedAt: when("When that was done"),
    durationSeconds: integer("How long it took."),
    revision: integer("The revision that the restored member had."),
    hash: integer("Its hash at the revision of the backup. Absent where etcd has none (3.2)."),
  }),
  history: defaulted(
    [],
    array(
      "The last runs, the newest first.",
      object("A run.", {
        id: required("", string("Tells runs apart.")),
        trigger: string("Once, Interval, Schedule or Annotation."),
        startedAt: when("When it began"),
        durationSeconds: integer("How long it took, with all attempts."),
        result: required("Failed", oneOf("How it ended.", ["Succeeded", "Failed"])),
        path: string("The backup that it made."),
        sizeBytes: integer("Its size."),
        message: string("Why it failed, or what else there is to say."),
      }),
      { most: 10 },
    ),
  ),
  backups: integer("How many backups of this series the store has."),
  failures: integer("How many runs have failed since the last that succeeded."),
  lastScheduleTime: when("The time of the schedule or interval that was served last"),
  handledRequest: string("The value of the annotation `etcd.database.coreos.com/backup-now` that was served last."),
});

export type EtcdBackupStatus = StoredOf<typeof statusSchema>;
export type CompleteStatus = CompleteOf<typeof statusSchema>;
