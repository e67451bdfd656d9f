import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../assess/assess.ts";
import type { ActionOf } from "../plan/actions.ts";
import { five, three } from "../testing/plan-table.ts";
import { type SampleMember, sampleId, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { eventsOf } from "./actions.ts";

type Cause = ActionOf<"removeMember">["cause"];

const table: [string, Cause, readonly SampleMember[], string[]][] = [
  ["one that is lost is replaced", "lost", three, ["Replacing Dead Member", "Member Removed"]],
  ["one that is lost and was too many is not replaced", "lost", five, ["Member Removed"]],
  ["one that is not wanted is not replaced", "unwanted", three, ["Member Removed"]],
  [
    "one that lost its data is replaced, and its loss is told",
    "wiped",
    three,
    ["Member Lost Its Data", "Replacing Dead Member", "Member Removed"],
  ],
];
for (const [what, cause, members, wanted] of table)
  test(`the events of a removal tell that ${what}`, () => {
    const assessment = assess(sampleWorld({ size: 3, members }), sampleNow);
    const pod = { t: "none" } as const;
    const removal = { do: "removeMember", id: sampleId("c"), member: "demo-c", because: "a test", cause, pod } as const;
    assert.deepEqual(
      eventsOf(removal, assessment).map(({ reason }) => reason),
      wanted,
    );
  });
