import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { compareVersions, isAtLeast, isOlder } from "./objects.ts";

test("versions compare as integers of any size", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 80n }), fc.bigInt({ min: 0n, max: 2n ** 80n }), (a, b) => {
      assert.equal(Math.sign(compareVersions(String(a), String(b)) ?? Number.NaN), a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

test("versions that are no numbers are equal or cannot be ordered", () => {
  assert.equal(compareVersions("abc", "abc"), 0);
  for (const [a, b] of [
    ["abc", "abd"],
    ["", "5"],
    ["5", ""],
    ["05", "5"],
  ] as const) {
    assert.equal(compareVersions(a, b), undefined);
    assert.equal(isOlder(a, b), false);
    assert.equal(isAtLeast(a, b), false);
  }
});
