import assert from "node:assert/strict";
import { test } from "node:test";
import { runInParallel } from "./parallel.ts";

test("suites in a process of their own end with their result, and so does the process", {
  timeout: 300_000,
}, async () => {
  const never = new AbortController().signal;
  assert.deepEqual(await runInParallel(["page-types"], never), { passed: 1, failed: 0, failures: [] });
});
