import assert from "node:assert/strict";
import { test } from "node:test";
import { amountOf, resourceProblems } from "./resource-problems.ts";

const quantities: [unknown, number | undefined][] = [
  ["1", 1],
  [2, 2],
  ["500m", 0.5],
  ["1.5", 1.5],
  [".5", 0.5],
  ["1.", 1],
  ["1e3", 1000],
  ["1E3", 1000],
  ["1E", 1e18],
  ["2Gi", 2 ** 31],
  ["100k", 100_000],
  ["-1", -1],
  ["two", undefined],
  ["2 Gi", undefined],
  ["2GB", undefined],
  ["1K", undefined],
  ["", undefined],
  [null, undefined],
  [{}, undefined],
];
for (const [text, amount] of quantities)
  test(`${JSON.stringify(text)} is ${amount === undefined ? "not a quantity" : `the quantity ${amount}`}`, () => {
    assert.equal(amountOf(text), amount);
  });

test("a request may be as large as its limit, in whatever unit, or have none", () => {
  const resources = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1000m", "ephemeral-storage": "1Mi" } };
  assert.deepEqual(resourceProblems("resources", resources), []);
});

test("requests and limits can be any JSON", () => {
  for (const odd of [null, "much", 3, [], { requests: [] }, { requests: { cpu: [] }, limits: "none" }])
    assert.ok(Array.isArray(resourceProblems("resources", (odd ?? {}) as object)));
});
