import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../assess/assess.ts";
import type { ActionOf } from "../plan/actions.ts";
import { five, three } from "../testing/plan-table.ts";
import { sampleId, type SampleMember, sampleName, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { eventsOf } from "./actions.ts";
import { judged } from "../testing/judged.ts";

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
    const removal = judged({
      do: "removeMember",
      id: sampleId("c"),
      member: sampleName("c"),
      because: "a test",
      cause,
      pod,
    });
    assert.deepEqual(
      eventsOf(removal, assessment).map(({ reason }) => reason),
      wanted,
    );
  });

test("the event of a change of an image tells of the versions, and there is none where the version is the same", () => {
  const assessment = assess(sampleWorld({ members: three }), sampleNow);
  const release = (version: string) => ({ version, image: "registry.example/etcd" });
  const notes = (from: string, to: string) => {
    const change = { member: sampleName("a"), uid: "u", from: release(from), to: release(to) };
    return eventsOf({ do: "confirmChange", ...change }, assessment).map(({ note }) => note);
  };
  assert.deepEqual(notes("3.6.16", "3.7.3"), ["Member demo-a upgraded from 3.6.16 to 3.7.3"]);
  assert.deepEqual(notes("3.6.16", "3.6.16"), []);
});
