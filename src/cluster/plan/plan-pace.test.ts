// How soon a cluster that waits is reconciled again: not later than something may have changed, and not more often.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../assess/assess.ts";
import {
  added,
  crashing,
  going,
  homeless,
  learner,
  onSilentNode,
  running,
  starting,
  three,
  voter,
  young,
} from "../testing/plan-table.ts";
import { type SampleMember, type SampleWorld, sampleNow, samplePod, sampleWorld } from "../testing/sample-world.ts";
import { planCluster } from "./plan.ts";
import { paceOf } from "./rule.ts";

const ago = (ms: number) => ({ createdAt: sampleNow - ms });
const beside = (...members: SampleMember[]): SampleWorld => ({
  size: 2 + members.length,
  members: [voter("a"), voter("b"), ...members],
});
const seed = (pod: SampleMember["pod"]): SampleWorld => ({
  unrecorded: true,
  etcd: "silent",
  members: [voter("a", { pod })],
});

const table: [string, SampleWorld, number | undefined][] = [
  ["one that is well", { members: three }, 30_000],
  ["a process that has just been started", beside(added("c", { pod: young })), 100],
  ["a process that has run for ten seconds", beside(added("c", { pod: ago(10_000) })), 500],
  ["a process that has run for long", beside(voter("c", { silent: true })), 2000],
  ["a pod that its kubelet has just heard of", beside(added("c", { pod: starting })), 100],
  ["a pod of a member that ran before", beside(voter("c", { silent: true, pod: starting })), 30_000],
  [
    "a pod on a node that is about to count as lost",
    beside(voter("c", { silent: true, pod: { ...starting, ...onSilentNode(55_000) } })),
    5000,
  ],
  ["a new pod whose process keeps exiting", beside(added("c", { pod: crashing(110_000) })), 10_000],
  [
    "a new pod that no node takes, until it is made again",
    beside(added("c", { pod: { ...homeless, ...ago(115_000) } })),
    5000,
  ],
  ["a new pod that no node takes yet", beside(added("c", { pod: homeless })), 30_000],
  [
    "a pod that could not start and goes",
    beside(added("c", { pod: { ...homeless, ...ago(115_000), ...going } })),
    30_000,
  ],
  [
    "several, by the one that is next",
    beside(added("c", { pod: homeless }), learner("d", { raftIndex: 5, pod: young })),
    100,
  ],
  ["a seed that starts", seed(starting), 30_000],
  ["a seed that runs", seed({ ...young, state: running }), 100],
  [
    "a seed that cannot start, until it is made again",
    seed({ ...ago(110_000), state: { t: "starting", problem: "ErrImagePull" } }),
    10_000,
  ],
  ["a seed that cannot start yet", seed({ ...young, state: { t: "starting", problem: "ErrImagePull" } }), 30_000],
  ["pods of which none answers", { etcd: "silent", members: three }, 2000],
  ["nobody: all members are gone", { etcd: "nobody" }, undefined],
];
describe("how soon it is looked at again for", () => {
  for (const [what, sample, wanted] of table)
    test(what, () => {
      const [{ actions, because, requeueAfter }] = planCluster(assess(sampleWorld(sample), sampleNow)).decisions;
      assert.deepEqual([requeueAfter, actions], [wanted, []], because);
    });
});

test("a process is asked often at first and less often the longer it takes", () => {
  const paces = [0, 1000, 10_000, 20_000, 3_600_000].map((ms) => paceOf(samplePod("demo-a", ago(ms)), sampleNow));
  assert.deepEqual(paces, [100, 100, 500, 1000, 2000]);
});
