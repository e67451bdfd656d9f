import assert from "node:assert/strict";
import { test } from "node:test";
import { formatRestoreRequest, restoreAnnotation, restoreRequestOf } from "./restore-annotation.ts";

const asked = (annotation: string | undefined, uid = "c1") =>
  restoreRequestOf({
    metadata: { uid, ...(annotation !== undefined && { annotations: { [restoreAnnotation]: annotation } }) },
  });

const request = { name: "example.com", uid: "5c9e1f4a-2b7d-4c55-8d10-0d3a6f7b9e21" };

test("a request for a restore is read as it was written", () => {
  assert.deepEqual(asked(formatRestoreRequest({ ...request, cluster: "c1" })), { ...request, to: "this" });
  assert.deepEqual(asked(formatRestoreRequest({ ...request, cluster: undefined })), { ...request, to: "new" });
});

test("a request of an older release does not say which EtcdCluster it was written to", () => {
  assert.deepEqual(asked("example.com/r1"), { name: "example.com", uid: "r1", to: "unsaid" });
});

test("a request that was written to another EtcdCluster asks for nothing", () => {
  assert.equal(asked(formatRestoreRequest({ ...request, cluster: "c1" }), "c2"), undefined);
});

test("an annotation that names no EtcdRestore with its uid asks for nothing", () => {
  for (const text of [undefined, "", "example", "example/", "/uid", "/uid/c1", "a/b/", "a/b/c1/d"])
    assert.equal(asked(text), undefined, text);
});
