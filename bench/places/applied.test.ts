import assert from "node:assert/strict";
import { test } from "node:test";
import { appliedIndexIn } from "./applied.ts";

test("the applied index is read out of the metrics, large ones too", () => {
  const metrics = [
    "# TYPE etcd_server_proposals_applied_total gauge",
    "etcd_server_proposals_applied_total 1.048577e+06",
    "etcd_server_proposals_committed_total 9e+06",
  ];
  assert.equal(appliedIndexIn(metrics.join("\n")), 1_048_577);
});

test("a process that has not counted yet has no applied index", () => {
  assert.equal(appliedIndexIn("# HELP etcd_server_proposals_applied_total The total number.\n"), undefined);
});
