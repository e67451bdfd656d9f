import assert from "node:assert/strict";
import { test } from "node:test";
import { delayAfter } from "./retries.ts";

test("delays double, and half of each is left to chance", () => {
  assert.deepEqual(
    [1, 2, 3].map((attempt) => [delayAfter(attempt, 0), delayAfter(attempt, 1)]),
    [
      [100, 200],
      [200, 400],
      [400, 800],
    ],
  );
});
