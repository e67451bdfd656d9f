// Whose the objects are that a demo finds: it deletes those of an earlier demo, and refuses to touch any other.
import assert from "node:assert/strict";
import { test } from "node:test";
import { judge, refusal } from "./leftovers.ts";
import { fieldManager } from "./names.ts";

const object = (what: string, ...managers: string[]) => ({
  what,
  object: { metadata: { managedFields: managers.map((manager) => ({ manager, operation: "Update" })) } },
});

test("nothing is there", () => {
  assert.deepEqual(judge([]), { t: "none" });
});

test("what a demo applied is its own, whoever edited it later", () => {
  const found = [
    object("EtcdCluster my-etcd", "etcd-operator", fieldManager, "kubectl-edit"),
    object("EtcdBackup nightly", fieldManager),
  ];
  assert.deepEqual(judge(found), { t: "ours", found: ["EtcdCluster my-etcd", "EtcdBackup nightly"] });
});

test("one object of somebody else is enough to leave all alone, and the sentence names it", () => {
  const found = [
    object("EtcdCluster my-etcd", "kubectl-client-side-apply"),
    object("EtcdBackup nightly", fieldManager),
    { what: "PersistentVolumeClaim etcd-backups", object: {} },
  ];
  const verdict = judge(found);
  assert.deepEqual(verdict, { t: "foreign", found: ["EtcdCluster my-etcd", "PersistentVolumeClaim etcd-backups"] });
  assert.match(
    refusal(verdict.found, "shop"),
    /^The namespace shop already has the EtcdCluster my-etcd and the PersistentVolumeClaim etcd-backups, not made by a demo\./,
  );
});
