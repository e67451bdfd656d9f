import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Delays } from "./delays.ts";

test("after any series of operations the heap answers like a plain map of times", () => {
  const key = fc.integer({ min: 0, max: 40 }).map(String);
  const time = fc.integer({ min: 0, max: 50 });
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant("set" as const), key, at: time }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), key }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("takeDue" as const), at: time }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const delays = new Delays();
      const model = new Map<string, number>();
      for (const step of steps) {
        if (step.do === "set") {
          delays.set(step.key, step.at);
          model.set(step.key, Math.min(step.at, model.get(step.key) ?? Number.POSITIVE_INFINITY));
        } else if (step.do === "delete") {
          assert.equal(delays.delete(step.key), model.delete(step.key));
        } else {
          const earliest = Math.min(...model.values());
          const taken = delays.takeDue(step.at);
          assert.equal(taken !== undefined, earliest <= step.at);
          if (taken !== undefined) {
            assert.equal(model.get(taken), earliest);
            model.delete(taken);
          }
        }
        assert.equal(delays.size, model.size);
        assert.equal(delays.earliest() ?? Number.POSITIVE_INFINITY, Math.min(...model.values()));
        for (const [key, at] of model) assert.equal(delays.at(key), at);
      }
      const times = Array.from({ length: model.size }, () => model.get(delays.takeDue(Number.POSITIVE_INFINITY) ?? ""));
      assert.deepEqual(
        times,
        [...model.values()].sort((a, b) => a - b),
      );
    }),
  );
});
