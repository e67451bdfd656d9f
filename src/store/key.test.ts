import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "./errors.ts";
import { checkKey } from "./key.ts";

const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof StoreError && error.code === "refused");
    return error.message;
  }
  return assert.fail("it was accepted");
};

test("a key that no store could keep is refused, and the sentence says what to write", () => {
  const cases = {
    "": /is empty/,
    "/etcd": /^The path "\/etcd" begins with a slash; remove it\.$/,
    "../etcd": /"\.\." between slashes/,
    "a/../../b": /"\.\." between slashes/,
    "a/./b": /"\." between slashes/,
    "a//b": /two slashes/,
    "a/": /ends with a slash/,
    "a\nb": /control character/,
    ["ü".repeat(513)]: /a key of 1026 bytes; write one of at most 1024/,
  };
  for (const [key, sentence] of Object.entries(cases))
    assert.match(
      refusal(() => checkKey(key)),
      sentence,
      key,
    );
});

test("the longest key is accepted, and so are names with spaces, other letters, and dots inside", () => {
  for (const key of ["etcd/nightly", "prod/etcd a:1_ü", "k".repeat(1024), "..a/b..c/..."])
    assert.equal(checkKey(key), key);
});
