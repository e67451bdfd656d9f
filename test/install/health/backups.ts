// The states of an EtcdBackup: its phases, with what can be wrong in them, and those that come with an edit or a deletion.
import { type EtcdBackupStatus, withDefaults } from "../../../src/api/etcd-backup/etcd-backup.ts";
import type { BackupPhase } from "../../../src/backup/plan/actions.ts";
import { statusOf } from "../../../src/backup/report/status.ts";
import type { TroubleReason } from "../../../src/backup/plan/trouble.ts";
import { toS3 } from "../../../src/backup/testing/stage.ts";
import { deletionTimestamp, type Expected, type Judged, objectOf, type State } from "./state.ts";

const now = Date.parse("2026-02-01T00:00:00Z");
const taken: EtcdBackupStatus = { succeeded: true, lastBackup: { path: "bucket/etcd/backup" } };

const goesOn: Expected = ["InProgress", "InProgress", "Progressing"];
const isDone: Expected = ["Current", "Current", "Healthy"];
/** It goes on once what it waits for is there, and a person has to see to that. */
const waitsForAPerson: Expected = ["InProgress", "Failed", "Degraded"];
const failed: Expected = ["Failed", "Failed", "Degraded"];
/** There is a backup, and something is wrong with the next one, or with its proof. */
const isWorseThanBefore: Expected = ["Current", "Failed", "Degraded"];

type Row = readonly [
  what: string,
  before: EtcdBackupStatus,
  phase: BackupPhase,
  trouble: TroubleReason | undefined,
  expected: Expected,
];

const rows: readonly Row[] = [
  ["whose run has yet to begin", {}, "Pending", undefined, goesOn],
  ["whose cluster has yet to serve", {}, "Pending", "ClusterNotServing", goesOn],
  ["whose cluster does not exist", {}, "Pending", "ClusterMissing", waitsForAPerson],
  ["whose operator does not know its image", {}, "Pending", "ImageUnknown", waitsForAPerson],
  ["whose first run is under way", {}, "Running", undefined, goesOn],
  ["whose first attempt failed", {}, "Running", "AttemptFailed", goesOn],
  ["whose worker does not start", {}, "Running", "WorkerCannotStart", waitsForAPerson],
  ["whose worker is refused", {}, "Running", "Refused", waitsForAPerson],
  ["whose first backup is proved", taken, "Verifying", undefined, isDone],
  ["that succeeded", taken, "Succeeded", undefined, isDone],
  ["that succeeded and could not be proved", taken, "Succeeded", "VerificationFailed", isWorseThanBefore],
  ["that succeeded and must not replace older ones", taken, "Succeeded", "PruningStopped", isWorseThanBefore],
  ["that failed", {}, "Failed", "BackupFailed", failed],
  ["with a wrong spec", {}, "Failed", "InvalidSpec", failed],
  ["of a series before its first run", {}, "Scheduled", undefined, isDone],
  ["of a series between two runs", taken, "Scheduled", undefined, isDone],
  ["of a series during the next run", taken, "Running", undefined, isDone],
  ["of a series whose run has to be tried again", taken, "Running", "AttemptFailed", isDone],
  ["of a series whose last run failed", { ...taken, succeeded: false }, "Scheduled", "BackupFailed", isWorseThanBefore],
  ["of a series whose cluster is gone", taken, "Pending", "ClusterMissing", isWorseThanBefore],
  ["that is suspended", taken, "Suspended", undefined, ["Current", "Current", "Suspended"]],
  ["that was suspended before its first run", {}, "Suspended", undefined, ["Current", "Current", "Suspended"]],
];

/** As the finalizer keeps them. */
const deleted: readonly (readonly [string, TroubleReason | undefined])[] = [
  ["whose backups are being deleted", undefined],
  ["whose backups cannot be deleted", "DeletionFailed"],
];

const metadata = { name: "nightly", namespace: "default", uid: "u1", generation: 1 };

function written(before: EtcdBackupStatus, phase: BackupPhase, reason: TroubleReason | undefined): Judged {
  const backup = withDefaults({ metadata, spec: toS3, status: before });
  const trouble = reason === undefined ? undefined : { reason, message: `It is ${reason}.` };
  const decision = { phase, because: "It is so.", actions: [], trouble, run: undefined, nextRun: undefined };
  return objectOf("EtcdBackup", { ...backup, status: statusOf(backup, decision, now) });
}

export const backupStates: readonly State[] = [
  {
    what: "that no operator has seen",
    object: objectOf("EtcdBackup", { metadata, spec: toS3, status: { observedGeneration: -1 } }),
    expected: goesOn,
  },
  ...rows.map(
    ([what, before, phase, trouble, expected]): State => ({ what, object: written(before, phase, trouble), expected }),
  ),
  {
    what: "that succeeded before it was edited",
    object: { ...written(taken, "Succeeded", undefined), metadata: { ...metadata, generation: 2 } },
    expected: goesOn,
  },
  ...deleted.map(
    ([what, trouble]): State => ({
      what,
      object: { ...written(taken, "Deleting", trouble), metadata: { ...metadata, deletionTimestamp } },
      expected: ["Terminating", "InProgress", "Progressing"],
    }),
  ),
];
