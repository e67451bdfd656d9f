import assert from "node:assert/strict";
import { test } from "node:test";
import { again, done, type Next } from "../kube/controller/run-reconcile.ts";
import { nextReconcile } from "./next-reconcile.ts";

const table: [what: string, is: Next, wanted: Next][] = [
  ["nothing to wait for", nextReconcile({}, "written"), done],
  ["a plan that asks for it", nextReconcile({ requeueAfter: 5_000 }, "unchanged"), again(5_000)],
  ["a time that has passed meanwhile", nextReconcile({ requeueAfter: -3 }, "unchanged"), again(0)],
  ["a status that somebody else wrote over", nextReconcile({ requeueAfter: 0 }, "outdated"), again(1_000)],
  ["a status that is refused", nextReconcile({}, "refused"), again(10_000)],
];
for (const [what, is, wanted] of table) test(`${what} decides when a key is next`, () => assert.deepEqual(is, wanted));
