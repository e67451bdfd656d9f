import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { longestResult, type Result } from "../job.ts";
import { resultText } from "./result.ts";
import { failureOf } from "./failure.ts";

test("a result of any sentence is whole JSON of a bounded length, and says as much as fits", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 9000, unit: "grapheme" }), (message) => {
      const result: Result = { ok: false, code: "store", message };
      const text = resultText(result);
      assert.ok(Buffer.byteLength(text) <= longestResult);
      const read: unknown = JSON.parse(text);
      if (Buffer.byteLength(JSON.stringify(result)) <= longestResult) assert.deepEqual(read, result);
      else assert.ok(Buffer.byteLength(text) > longestResult / 2);
    }),
    { examples: [["\u0000".repeat(9000)], ["€".repeat(9000)], ["x".repeat(9000)]] },
  );
});

test("a failure shows no secret that an error carries", () => {
  const said = failureOf(new Error("GET https://user:hunter2@host/ failed with Bearer abc.def.ghi"));
  assert.equal(said.code, "failed");
  for (const secret of ["hunter2", "abc.def"]) assert.ok(!said.message.includes(secret));
});
