import assert from "node:assert/strict";
import { test } from "node:test";
import { longestGap } from "./gaps.ts";

test("the longest gap is that between two acknowledgements, wherever it lies", () => {
  assert.equal(longestGap([0, 10, 15, 100, 110], 0), 85);
  assert.equal(longestGap([0, 90, 100, 110], 0), 90);
});

test("a gap that was over before the moment does not count", () => {
  assert.equal(longestGap([0, 500, 510, 530], 505), 20);
});

test("a gap that the moment lies in counts as a whole", () => {
  assert.equal(longestGap([0, 500, 510], 300), 500);
});

test("a writer that is not answered after the moment has no gap that a number could tell", () => {
  assert.throws(() => longestGap([0, 10, 20], 20), RangeError);
  assert.throws(() => longestGap([], 0), RangeError);
  assert.throws(() => longestGap([30], 20), RangeError);
});
