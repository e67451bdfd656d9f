import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Lanes, higher, type Priority } from "./lanes.ts";

const anyKey = fc.constantFrom("a", "b", "c", "d", "e", "f");
const anyPriority = fc.constantFrom<Priority>("high", "normal", "low");

test("keys of a higher lane go first, in the order in which they came", () => {
  const lanes = new Lanes();
  lanes.push("l1", "low");
  lanes.push("n1", "normal");
  lanes.push("h1", "high");
  lanes.push("h2", "high");
  lanes.push("n2", "normal");
  const popped = Array.from({ length: 6 }, () => lanes.pop()?.key);
  assert.deepEqual(popped, ["h1", "h2", "n1", "n2", "l1", undefined]);
});

test("a key that becomes more urgent while it waits moves up, and less urgent news does not move it down", () => {
  const lanes = new Lanes();
  lanes.push("x", "normal");
  lanes.push("y", "low");
  lanes.push("y", "high");
  lanes.push("y", "low");
  assert.equal(lanes.size, 2);
  assert.deepEqual(lanes.pop(), { key: "y", priority: "high" });
  assert.deepEqual(lanes.pop(), { key: "x", priority: "normal" });
  assert.equal(lanes.pop(), undefined);
});

test("an endless stream of urgent keys does not starve the other lanes", () => {
  const lanes = new Lanes();
  lanes.push("resync", "low");
  lanes.push("event", "normal");
  const popped: string[] = [];
  for (let n = 0; n < 18; n += 1) {
    lanes.push(`person-${n}`, "high");
    popped.push(lanes.pop()?.key ?? "");
  }
  assert.equal(popped.indexOf("event"), 4);
  assert.equal(popped.indexOf("resync"), 16);
});

test("one who comes after a crowd is served next or after that, and the crowd keeps half of the turns, in its order", () => {
  const lanes = new Lanes();
  for (let n = 0; n < 60; n += 1) lanes.push(`many-${n}`, "high");
  const before = Array.from({ length: 7 }, () => lanes.pop()?.key ?? "");
  lanes.push("one-more", "high");
  const after = Array.from({ length: 54 }, () => lanes.pop()?.key ?? "");
  assert.ok(after.indexOf("one-more") <= 1, `it was number ${after.indexOf("one-more")}`);
  const all = [...before, ...after];
  assert.equal(new Set(all).size, 61, "each once");
  const oldest = all.filter((_, turn) => turn % 2 === 1).slice(0, 20);
  assert.deepEqual(
    oldest,
    Array.from({ length: 20 }, (_, n) => `many-${n}`),
  );
  assert.equal(lanes.pop(), undefined);
});

test("a key that left a crowd and came again is served once", () => {
  const lanes = new Lanes();
  for (let round = 0; round < 100; round += 1) {
    for (let n = 0; n < 12; n += 1) lanes.push(`k${n}`, "high");
    for (let n = 0; n < 6; n += 1) lanes.pop();
  }
  const rest = Array.from({ length: lanes.size }, () => lanes.pop()?.key);
  assert.equal(new Set(rest).size, rest.length);
  assert.equal(lanes.pop(), undefined);
});

test("whatever is pushed comes out once, first in first out within its lane, and no lane waits for ever", () => {
  const step = fc.oneof(
    fc.record({ key: anyKey, priority: anyPriority }, { noNullPrototype: true }),
    fc.constant("pop" as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const lanes = new Lanes();
      const model: { key: string; priority: Priority }[] = [];
      const waited = { high: 0, normal: 0, low: 0 };
      for (const step of [...steps, ...Array.from({ length: 6 }, () => "pop" as const)]) {
        if (step !== "pop") {
          lanes.push(step.key, step.priority);
          const present = model.findIndex(({ key }) => key === step.key);
          const moves = present < 0 || higher(step.priority, model[present]!.priority) !== model[present]!.priority;
          if (moves && present >= 0) model.splice(present, 1);
          if (moves) model.push(step);
          // A lane that its last key left upwards waits no more; the next key in it waits from the beginning.
          for (const lane of ["high", "normal", "low"] as const)
            if (present >= 0 && moves && !model.some(({ priority }) => priority === lane)) waited[lane] = 0;
          continue;
        }
        const popped = lanes.pop();
        assert.equal(popped === undefined, model.length === 0);
        if (popped === undefined) continue;
        const first = model.findIndex(({ priority }) => priority === popped.priority);
        assert.deepEqual(model[first], popped);
        model.splice(first, 1);
        for (const lane of ["high", "normal", "low"] as const) {
          const waits = lane !== popped.priority && model.some(({ priority }) => priority === lane);
          waited[lane] = waits ? waited[lane] + 1 : 0;
        }
        assert.ok(
          waited.high <= 2 && waited.normal <= 5 && waited.low <= 16,
          `passed over too often: ${JSON.stringify(waited)}`,
        );
      }
      assert.equal(lanes.size, model.length);
    }),
  );
});

test("a long lane gives its keys back in order while keys in the middle leave it", () => {
  const lanes = new Lanes();
  for (let n = 0; n < 1000; n += 1) lanes.push(`k${n}`, "low");
  for (let n = 0; n < 1000; n += 2) lanes.push(`k${n}`, "normal");
  const popped = Array.from({ length: 1000 }, () => lanes.pop()?.key ?? "none");
  const evens = popped.filter((key) => Number(key.slice(1)) % 2 === 0);
  const odds = popped.filter((key) => Number(key.slice(1)) % 2 === 1);
  assert.deepEqual(
    evens,
    Array.from({ length: 500 }, (_, n) => `k${2 * n}`),
  );
  assert.deepEqual(
    odds,
    Array.from({ length: 500 }, (_, n) => `k${2 * n + 1}`),
  );
});
