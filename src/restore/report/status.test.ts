// What programs that wait make of a restore.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { type Kstatus, kstatusOf } from "../../kube/testing/kstatus.ts";
import { isEdited } from "../plan/gates.ts";
import { fail, over, type RestoreDecision, retry, stay, succeed } from "../plan/actions.ts";
import { aRestore } from "../testing/samples.ts";
import { statusOf } from "./status.ts";

const now = Date.parse("2026-02-01T00:00:00Z");

const waits: RestoreDecision = stay("It is to be confirmed.", { needsAPerson: true });

describe("a restore, for a program that waits,", () => {
  const table: [what: string, status: EtcdRestore["status"], decision: RestoreDecision, wanted: Kstatus][] = [
    ["is in progress while it has yet to begin", {}, stay("It waits."), "InProgress"],
    ["is in progress while it is under way", { phase: "Restoring" }, stay("It goes on."), "InProgress"],
    ["is in progress while a step is tried again", { phase: "Checking" }, tries(), "InProgress"],
    ["is done when it has succeeded", { phase: "Restoring" }, succeed("s", {}), "Current"],
    ["is stalled while only a person lets it go on", { phase: "Checking" }, waits, "Failed"],
    ["has failed when it is given up", { phase: "Checking" }, fail("It is damaged."), "Failed"],
  ];
  for (const [what, status, decision, wanted] of table)
    test(what, () => {
      const restore = aRestore({ status: { observedGeneration: 1, ...status } });
      const after = statusOf({ restore, worker: undefined }, { decision, obstacle: undefined }, now);
      assert.equal(kstatusOf({ metadata: restore.metadata, status: after }), wanted);
    });
});

test("a restore that nobody has seen yet was not edited since, and is in progress", () => {
  const status = { observedGeneration: -1 };
  assert.equal(isEdited(aRestore({ status })), false);
  assert.equal(kstatusOf({ metadata: { generation: 1 }, status }), "InProgress");
});

test("an edit of a restore that is over counts as seen, and leaves the verdict as it was", () => {
  for (const [phase, wanted] of [
    ["Succeeded", "Current"],
    ["Failed", "Failed"],
  ] as const) {
    const decision = phase === "Failed" ? fail("No.") : succeed("s", {});
    const ending = aRestore({ status: { observedGeneration: 1, phase: "Checking" } });
    const before = statusOf({ restore: ending, worker: undefined }, { decision, obstacle: undefined }, now);
    const restore = aRestore({ status: before });
    const edited = { ...restore, metadata: { ...restore.metadata, generation: 2 } };
    const refused = over("It changes nothing.");
    const after = statusOf({ restore: edited, worker: undefined }, { decision: refused, obstacle: undefined }, now);
    assert.deepEqual([after.phase, after.message], [phase, "It changes nothing."]);
    assert.equal(kstatusOf({ metadata: edited.metadata, status: after }), wanted);
  }
});

function tries(): RestoreDecision {
  return retry("The store did not answer.", 1000);
}
