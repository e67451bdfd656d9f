import assert from "node:assert/strict";
import { test } from "node:test";
import type { FailureCode } from "../worker/job.ts";
import { isDefinite } from "./worker.ts";

test("stores, etcd and accidents may be better the next time, the backup and the settings are not", () => {
  const codes: readonly FailureCode[] = ["store", "etcd", "stalled", "failed", "damaged", "notFound", "misconfigured"];
  assert.deepEqual(
    codes.filter((code) => !isDefinite(code)),
    ["store", "etcd", "stalled", "failed"],
  );
});

test("files in the folder of the data are there for every attempt", () => {
  assert.equal(isDefinite("dataExists"), true);
});
