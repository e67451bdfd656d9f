// When the demo's backup is proved, when it has failed, and whether there is a volume for it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EtcdBackup, EtcdBackupStatus } from "../src/api/etcd-backup/etcd-backup.ts";
import { failureOf, isDefault, isVerified } from "./backup-state.ts";

const backup = (status: EtcdBackupStatus): EtcdBackup => ({ spec: { storageType: "PVC" }, status });
const lastTransitionTime = "2026-01-31T12:00:00Z";
const verdict = (status: "True" | "False"): EtcdBackup =>
  backup({
    conditions: [{ type: "Verified", status, reason: "", message: "Its hash is another.", lastTransitionTime }],
  });

test("a backup is proved by its condition Verified", () => {
  assert.deepEqual([isVerified(undefined), isVerified(backup({}))], [false, false]);
  assert.deepEqual([isVerified(verdict("False")), isVerified(verdict("True"))], [false, true]);
});

test("a run that failed, or a backup that could not be verified, is reported with its reason", () => {
  assert.deepEqual([failureOf(undefined), failureOf(backup({})), failureOf(verdict("True"))], Array(3).fill(undefined));
  // A series goes on after a run that failed: its phase is Scheduled.
  assert.equal(
    failureOf(backup({ phase: "Scheduled", failures: 1, Reason: "The volume is full." })),
    "The backup failed: The volume is full.",
  );
  assert.equal(failureOf(verdict("False")), "The backup could not be verified: Its hash is another.");
});

test("a StorageClass is the default one by its annotation, also by the older one", () => {
  const annotated = (annotations: Record<string, string>) => isDefault({ provisioner: "p", metadata: { annotations } });
  assert.equal(annotated({ "storageclass.kubernetes.io/is-default-class": "true" }), true);
  assert.equal(annotated({ "storageclass.beta.kubernetes.io/is-default-class": "true" }), true);
  assert.equal(annotated({ "storageclass.kubernetes.io/is-default-class": "false" }), false);
  assert.equal(isDefault({ provisioner: "p" }), false);
});
