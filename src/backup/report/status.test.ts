// What programs that wait make of a backup.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type EtcdBackupStatus, withDefaults } from "../../api/etcd-backup/etcd-backup.ts";
import { type Kstatus, kstatusOf } from "../../kube/testing/kstatus.ts";
import { toS3 } from "../testing/stage.ts";
import type { BackupPhase } from "../plan/actions.ts";
import { isEdited } from "../plan/due.ts";
import { statusOf } from "./status.ts";
import type { Trouble } from "../plan/trouble.ts";

const now = Date.parse("2026-02-01T00:00:00Z");
const lastBackup = { path: "bucket/etcd/backup" };
const failed: Trouble = { reason: "BackupFailed", message: "The bucket is gone." };
const backup = (status: EtcdBackupStatus) =>
  withDefaults({ metadata: { name: "nightly", namespace: "default", uid: "u1", generation: 1 }, spec: toS3, status });

describe("a backup, for a program that waits,", () => {
  const table: [
    what: string,
    status: EtcdBackupStatus,
    phase: BackupPhase,
    trouble: Trouble | undefined,
    wanted: Kstatus,
  ][] = [
    ["is in progress until its run begins", {}, "Pending", undefined, "InProgress"],
    ["is in progress during its first run", {}, "Running", undefined, "InProgress"],
    ["is in progress until its first backup is proved", {}, "Verifying", undefined, "InProgress"],
    ["is done when its only run has succeeded", { lastBackup }, "Succeeded", undefined, "Current"],
    ["has failed when its only run has", {}, "Failed", failed, "Failed"],
    ["is done between the runs of a series", { lastBackup }, "Scheduled", undefined, "Current"],
    ["is done during the next run of a series", { lastBackup }, "Running", undefined, "Current"],
    ["is done while it is suspended", {}, "Suspended", undefined, "Current"],
  ];
  for (const [what, status, phase, trouble, wanted] of table)
    test(what, () => {
      const { metadata } = backup(status);
      const decision = { phase, because: "It is so.", actions: [], trouble, run: undefined, nextRun: undefined };
      assert.equal(kstatusOf({ metadata, status: statusOf(backup(status), decision, now) }), wanted);
    });
});

test("a backup that nobody has seen yet has no generation that was seen, and is in progress", () => {
  const fresh = backup({ observedGeneration: -1 });
  assert.equal(fresh.status.observedGeneration, undefined);
  assert.equal(isEdited(fresh), true);
  assert.equal(kstatusOf({ metadata: fresh.metadata, status: { observedGeneration: -1 } }), "InProgress");
});
