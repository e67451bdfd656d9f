// The colour of a cluster goes by the table of conditions, and by the status where its reason is not in there.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FleetRow } from "./fleet.ts";
import { quorumHue, readyHue, rowHue } from "./hues.ts";

const row = (ready: FleetRow["ready"], reason: string, paused = false): FleetRow => ({
  namespace: "default",
  name: "my-etcd",
  ready,
  reason,
  paused,
  sentence: "",
  members: "3/3",
  version: "3.6.16",
});

describe("the colour of a cluster", () => {
  const rows: readonly (readonly [what: string, row: FleetRow, hue: string])[] = [
    ["that is ready is good", row("True", "AllMembersReady"), "good"],
    ["that goes on by itself is a warning", row("False", "Updating"), "warning"],
    ["that waits as somebody asked is a warning", row("False", "UpdateOnDelete"), "warning"],
    ["that needs a person is bad", row("False", "VersionDiffers"), "bad"],
    ["that is paused is a warning", row("False", "QuorumLost", true), "warning"],
    ["that is not ready for a reason of a newer operator is bad", row("False", "OfTomorrow"), "bad"],
    ["that is ready for a reason of a newer operator is good", row("True", "OfTomorrow"), "good"],
    ["that no operator has reconciled is a warning", row("Unknown", ""), "warning"],
  ];
  for (const [what, one, hue] of rows) test(what, () => assert.equal(rowHue(one), hue));

  test("without a quorum is bad, whatever goes on", () => {
    const ready = { status: "False", reason: "Joining", sentence: "" } as const;
    const quorum = { voters: 3, healthy: 1, needed: 2, margin: -1, replaced: false, sentence: "" };
    assert.equal(readyHue({ ready, quorum }), "bad");
    assert.equal(readyHue({ ready, quorum: { ...quorum, healthy: 2, margin: 0 } }), "warning");
    assert.equal(quorumHue(quorum), "bad");
  });

  test("without a quorum while its data is replaced is a warning", () => {
    const ready = { status: "False", reason: "Restoring", sentence: "" } as const;
    const quorum = { voters: 3, healthy: 0, needed: 2, margin: -2, replaced: true, sentence: "" };
    assert.deepEqual([readyHue({ ready, quorum }), quorumHue(quorum)], ["warning", "warning"]);
  });
});
