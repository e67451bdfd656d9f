// The closing table of the demo.
import assert from "node:assert/strict";
import { test } from "node:test";
import { summaryLines } from "./summary.ts";

const done = [
  { what: "created three members", tookMs: 2_100 },
  { what: "restored from the backup", tookMs: 101_000 },
];

test("what was done is listed with its time, and writes by whether the backup has them", () => {
  const writes = { kept: { acknowledged: 210, found: 210 }, later: { acknowledged: 12, found: 0 }, unknown: 3 };
  assert.deepEqual(summaryLines(done, { ...writes, lost: undefined }), [
    "DONE                      TOOK",
    "created three members     2.1 s",
    "restored from the backup  1 min 41 s",
    "",
    "WRITES                               COUNT  READ BACK",
    "acknowledged, in the backup          210    210",
    "acknowledged, later than the backup  12     0",
    "not acknowledged                     3      -",
  ]);
});

test("where no backup was taken all writes are one row", () => {
  const writes = { kept: { acknowledged: 99, found: 99 }, later: { acknowledged: 0, found: 0 }, unknown: 0 };
  assert.deepEqual(summaryLines([], { ...writes, lost: undefined }).slice(2), [
    "WRITES        COUNT  READ BACK",
    "acknowledged  99     99",
  ]);
});
