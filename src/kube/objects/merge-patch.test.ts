// A merge patch does what it was made for, and there is none where nothing differs.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { mergePatchBetween } from "./merge-patch.ts";

/** As RFC 7396 says. */
function applied(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const isMap = typeof target === "object" && target !== null && !Array.isArray(target);
  const result = new Map<string, unknown>(isMap ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch))
    if (value === null) result.delete(name);
    else result.set(name, applied(result.get(name), value));
  return Object.fromEntries(result);
}

const { value: json } = fc.letrec<{ value: unknown; map: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.constantFrom("a", "b"), fc.array(fc.integer()), tie("map")),
  map: fc.dictionary(fc.constantFrom("x", "y", "z"), tie("value"), { noNullPrototype: true }),
}));
const map = fc.dictionary(fc.constantFrom("x", "y", "z"), json, { noNullPrototype: true });

test("applied to the old value, it gives the new one", () => {
  fc.assert(
    fc.property(map, map, (before, after) => {
      assert.deepEqual(applied(before, mergePatchBetween(before, after) ?? {}), after);
    }),
  );
});

test("there is none between equal values, and null is as good as nothing", () => {
  assert.equal(mergePatchBetween({ a: { b: [1] } }, { a: { b: [1] } }), undefined);
  assert.equal(mergePatchBetween({ lastSuccessDate: null }, {}), undefined);
  assert.deepEqual(mergePatchBetween({ run: { id: "a", pod: "p" } }, { run: { id: "a" } }), { run: { pod: null } });
});
