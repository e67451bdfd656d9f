import assert from "node:assert/strict";
import { test } from "node:test";
import { formatRestoreRequest, restoreAnnotation, restoreRequestOf } from "./restore-annotation.ts";

const asked = (annotation?: string) =>
  restoreRequestOf({ metadata: annotation === undefined ? {} : { annotations: { [restoreAnnotation]: annotation } } });

test("a request for a restore is read as it was written", () => {
  const request = { name: "example.com", uid: "5c9e1f4a-2b7d-4c55-8d10-0d3a6f7b9e21" };
  assert.deepEqual(asked(formatRestoreRequest(request)), request);
});

test("an annotation that names no EtcdRestore with its uid asks for nothing", () => {
  for (const text of [undefined, "", "example", "example/", "/uid", "a/b/c"])
    assert.equal(asked(text), undefined, text);
});
