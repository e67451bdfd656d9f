import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { findCondition, type Conclusion, type Condition, withConditions } from "./conditions.ts";

const before = new Date("2030-01-01T00:00:00.123Z");
const after = new Date("2030-01-01T00:01:00.456Z");
const ready: Conclusion = {
  type: "Ready",
  status: "True",
  reason: "AllGood",
  message: "3 of 3",
  observedGeneration: 4,
};

test("a new condition gets a transition time without fractions of a second", () => {
  assert.deepEqual(withConditions(undefined, [ready], before), [
    { ...ready, lastTransitionTime: "2030-01-01T00:00:00Z" },
  ]);
});

test("the transition time moves when the status changes and only then", () => {
  const first = withConditions([], [ready], before);
  const cases: { conclusion: Conclusion; time: string }[] = [
    { conclusion: { ...ready, reason: "Other" }, time: "2030-01-01T00:00:00Z" },
    { conclusion: { ...ready, message: "other" }, time: "2030-01-01T00:00:00Z" },
    { conclusion: { ...ready, observedGeneration: 5 }, time: "2030-01-01T00:00:00Z" },
    { conclusion: { ...ready, status: "False" }, time: "2030-01-01T00:01:00Z" },
    { conclusion: { ...ready, status: "Unknown" }, time: "2030-01-01T00:01:00Z" },
  ];
  for (const { conclusion, time } of cases) {
    assert.deepEqual(withConditions(first, [conclusion], after), [{ ...conclusion, lastTransitionTime: time }]);
  }
});

test("the same conclusion gives back the same array, so there is nothing to write", () => {
  const first = withConditions([], [ready], before);
  assert.equal(withConditions(first, [ready], after), first);
});

test("a transition time that is none becomes the present, whoever wrote it, and nothing else is changed", () => {
  const [own] = withConditions([], [ready], before);
  const others = { ...own!, type: "Others" };
  for (const wrong of ["", "yesterday", "2030-01-01", "2030-13-01T00:00:00Z"]) {
    const present = [own!, { ...others, lastTransitionTime: wrong }];
    assert.deepEqual(withConditions(present, [ready], after), [
      own,
      { ...others, lastTransitionTime: "2030-01-01T00:01:00Z" },
    ]);
  }
  // As etcd-operator 0.9 wrote it, in the time zone of its node.
  const old = [own!, { ...others, lastTransitionTime: "2018-06-01T10:00:00+02:00" }];
  assert.equal(withConditions(old, [ready], after), old);
});

test("a message longer than the server takes is cut, and still compares as unchanged", () => {
  const long = { ...ready, message: "x".repeat(40_000) };
  const first = withConditions([], [long], before);
  assert.equal(findCondition(first, "Ready")!.message.length, 32_768);
  assert.equal(withConditions(first, [long], after), first);
});

test("types stay unique and keep their order whatever is merged and removed", () => {
  const types = fc.constantFrom("A", "B", "C", "D");
  const conclusion: fc.Arbitrary<Conclusion> = fc.record({
    type: types,
    status: fc.constantFrom("True", "False", "Unknown"),
    reason: fc.constantFrom("R", "S"),
    message: fc.constantFrom("m", "n"),
  });
  fc.assert(
    fc.property(fc.array(fc.array(conclusion, { maxLength: 3 }), { maxLength: 8 }), (rounds) => {
      let conditions: readonly Condition[] = [];
      for (const round of rounds) {
        const order = conditions.map((c) => c.type);
        conditions = withConditions(conditions, round, before);
        assert.deepEqual(conditions.map((c) => c.type).slice(0, order.length), order);
        for (const { type } of round) {
          const last = round.findLast((c) => c.type === type)!;
          assert.equal(findCondition(conditions, type)!.status, last.status);
        }
        assert.equal(new Set(conditions.map((c) => c.type)).size, conditions.length);
      }
    }),
  );
});

test("a message is one line without what a terminal obeys, and the same again is no change", () => {
  const nasty = { ...ready, message: "etcd said:\r\n\u001B[2Jok \u202E\u009B1m" };
  const first = withConditions([], [nasty], before);
  assert.equal(first[0]?.message, "etcd said: �[2Jok ��1m");
  assert.equal(withConditions(first, [nasty], after), first);
});
