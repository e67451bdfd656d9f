import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "./errors.ts";
import { checkKey, splitPath } from "./path.ts";

const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof StoreError && error.code === "refused");
    return error.message;
  }
  return assert.fail("it was accepted");
};

test("a path is split at its first slash", () => {
  assert.deepEqual(splitPath("backups/etcd"), { bucket: "backups", key: "etcd" });
  assert.deepEqual(splitPath("backups/prod/etcd a:1_ü"), { bucket: "backups", key: "prod/etcd a:1_ü" });
});

test("a path that no store could keep is refused, and the sentence says what to write", () => {
  const cases = {
    "": /has no slash/,
    backups: /has no slash/,
    "/backups/etcd": /begins with a slash/,
    "backups/": /nothing after the bucket/,
    "backups//etcd": /begins with a slash/,
    "../etcd": /for a bucket/,
    "backups/../etcd": /"\.\." between slashes/,
    "backups/a/./b": /"\." between slashes/,
    "backups/a//b": /two slashes/,
    "backups/a/": /ends with a slash/,
    "backups/a\nb": /control character/,
    "back\u0000ups/a": /control character in the name of the bucket/,
    [`backups/${"ü".repeat(513)}`]: /a key of 1026 bytes; write one of at most 1024/,
  };
  for (const [path, sentence] of Object.entries(cases))
    assert.match(
      refusal(() => splitPath(path)),
      sentence,
      path,
    );
});

test("the longest key is accepted, and dots inside a name are", () => {
  assert.equal(splitPath(`b/${"k".repeat(1024)}`).key.length, 1024);
  assert.equal(splitPath("b/..a/b..c/...").key, "..a/b..c/...");
});

test("on a volume the whole path is the key", () => {
  assert.equal(checkKey("etcd/nightly"), "etcd/nightly");
  assert.match(
    refusal(() => checkKey("/etcd")),
    /^The path "\/etcd" begins with a slash; remove it\.$/,
  );
  assert.match(
    refusal(() => checkKey("")),
    /is empty/,
  );
  assert.match(
    refusal(() => checkKey("a/../../b")),
    /"\.\."/,
  );
});
