// What is said of pods that run and do not answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemberPod } from "../observe/world.ts";
import { going, starting, three, voter } from "../testing/plan-table.ts";
import { type SampleWorld, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { silencesOf } from "./silence.ts";

const alone = (pod: Partial<MemberPod>): SampleWorld => ({ etcd: "silent", members: [voter("a", { pod })] });
const beside = (pod: Partial<MemberPod>): SampleWorld => ({
  members: [voter("a"), voter("b"), voter("c", { silent: true, pod })],
});
const unready: Partial<MemberPod> = { ready: false };
const table: [string, SampleWorld, string[]][] = [
  ["nothing of those that answer", { members: three.map(({ letter }) => voter(letter, { pod: unready })) }, []],
  ["that it cannot be reached, if its kubelet finds it ready and nobody answers", alone({}), ["MembersUnreachable"]],
  ["nothing of one that is ready, while others answer", beside({}), []],
  ["that it is no etcd, if it answers without end", { ...alone({}), unreadable: ["a"] }, ["MembersUnreachable"]],
  ["that it is no etcd, also while others answer", { ...beside({}), unreadable: ["c"] }, ["MembersUnreachable"]],
  ["that it does not serve, if it was never ready", alone(unready), ["MemberCannotStart"]],
  ["that it does not serve, while others answer, too", beside(unready), ["MemberCannotStart"]],
  ["nothing of one that was ready once", beside({ ...unready, readyOnce: true }), []],
  ["nothing of one that runs for a minute", beside({ ...unready, createdAt: sampleNow - 60_000 }), []],
  [
    "that it does not serve, after a minute",
    beside({ ...unready, createdAt: sampleNow - 60_001 }),
    ["MemberCannotStart"],
  ],
  ["nothing of one that starts", beside({ ...starting, ...unready, createdAt: 0 }), []],
  ["nothing of one that goes", beside({ ...unready, ...going }), []],
  ["nothing of one that answers as another cluster", { ...beside(unready), strangers: ["c"] }, []],
  [
    "that it does not serve, also where there is no quorum",
    { ...beside(unready), etcd: "noQuorum" },
    ["MemberCannotStart"],
  ],
];
for (const [what, sample, wanted] of table)
  test(`of a silent pod it is said ${what}`, () => {
    const said = silencesOf(sampleWorld(sample), sampleNow);
    assert.deepEqual(
      said.map(({ reason }) => reason),
      wanted,
    );
  });
