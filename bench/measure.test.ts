import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, percentile } from "./measure.ts";

const base = { what: "x", unit: "MiB", floorIs: "y" } as const;
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => n - i);

test("percentiles are samples that were taken, whatever their order", () => {
  assert.equal(percentile(upTo(100), 50), 50);
  assert.equal(percentile(upTo(100), 99), 99);
  assert.equal(percentile(upTo(1000), 99), 990);
  assert.equal(percentile([3, 1, 2], 50), 2);
});

test("the 99th percentile of few samples is the largest", () => assert.equal(percentile([5, 9, 1], 99), 9));

test("no samples are an error and not a figure", () => assert.throws(() => percentile([], 50), RangeError));

test("the ratio is that of the medians", () => {
  assert.equal(compare({ ...base, ours: [3, 3, 90], floor: [2, 2, 1] }).ratio, 1.5);
});

test("over a floor of nothing there is no ratio", () => {
  assert.equal(compare({ ...base, ours: [1], floor: [0] }).ratio, undefined);
});

test("a size meets its aim by its median, a count by its worst", () => {
  const samples = { ours: [1, 1, 5], floor: [1], atMost: 2 };
  assert.deepEqual(compare({ ...base, ...samples }).aim, { of: "value", atMost: 2, met: true });
  for (const unit of ["a minute", "at once", "writes"] as const)
    assert.deepEqual(compare({ ...base, ...samples, unit }).aim, { of: "value", atMost: 2, met: false });
});

test("an aim on the ratio is met by the medians, however long either took", () => {
  const samples = { unit: "s", floor: [2, 2, 90], ratioAtMost: 2 } as const;
  assert.deepEqual(compare({ ...base, ...samples, ours: [4, 4, 900] }).aim, { of: "ratio", atMost: 2, met: true });
  assert.deepEqual(compare({ ...base, ...samples, ours: [4.1, 4.1, 1] }).aim, { of: "ratio", atMost: 2, met: false });
});

test("an aim on the ratio is missed when the floor is nothing", () => {
  assert.equal(compare({ ...base, ours: [0], floor: [0], ratioAtMost: 2 }).aim?.met, false);
});
