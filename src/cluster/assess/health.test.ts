// How a cluster does as a whole, and which of its voters are of no use.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  crashing,
  ended,
  going,
  gone,
  learner,
  running,
  starting,
  three,
  voter,
  young,
} from "../testing/plan-table.ts";
import type { MemberPod } from "../observe/world.ts";
import {
  otherClusterId,
  type SampleMember,
  type SampleWorld,
  sampleClusterId,
  sampleNow,
  sampleWorld,
} from "../testing/sample-world.ts";
import { assess } from "./assess.ts";
import { type Health, hasServed, isKnownToHaveServed, unhealthyVoters } from "./health.ts";

const away = (letter: string, more: Partial<SampleMember> = {}): SampleMember =>
  voter(letter, { silent: true, ...more });
const withoutData: Partial<MemberPod> = {
  state: { t: "crashing", since: sampleNow, exitedAt: sampleNow, restarts: 1, problem: "exits", withoutData: true },
};
const unnamed = (letter: string): SampleMember => voter(letter, { unnamed: true });
/** It got its vote, and its etcd has yet to serve for the first time. */
const first = (letter: string, more: Partial<MemberPod> = {}): SampleMember =>
  voter(letter, { silent: true, pod: { ...young, state: running, ready: false, ...more } });
const late = (letter: string): SampleMember => first(letter, { createdAt: sampleNow - 61_000 });
const newcomers = [first("b"), first("c")];

describe("a cluster", () => {
  const foreign: Health = { t: "foreign", answering: otherClusterId, recorded: sampleClusterId };
  const table: [string, SampleWorld, Health][] = [
    ["that decides serves", { members: three }, { t: "serving" }],
    [
      "that nobody has heard of is being created",
      { unrecorded: true, etcd: "silent", members: three },
      { t: "creating" },
    ],
    ["whose pods are all of another one is foreign", { etcd: "noQuorum", strangers: ["a"] }, foreign],
    [
      "of which one answers beside another one's pods has lost its quorum",
      { etcd: "noQuorum", strangers: ["b"], members: [voter("a"), away("b"), away("c")] },
      { t: "quorumLost", answering: 1, voters: 3 },
    ],
    [
      "of which half answers has lost its quorum",
      { etcd: "noQuorum", members: [voter("a"), voter("b"), away("c"), away("d")] },
      { t: "quorumLost", answering: 2, voters: 4 },
    ],
    [
      "of which most answer elects",
      { etcd: "noQuorum", members: [voter("a"), voter("b"), away("c")] },
      { t: "electing" },
    ],
    [
      "whose new voter makes a majority is being joined",
      { etcd: "noQuorum", members: [voter("a"), unnamed("b")] },
      { t: "joining" },
    ],
    [
      "whose new voter does not make a majority has lost its quorum",
      { etcd: "noQuorum", members: [voter("a"), unnamed("b"), away("c"), away("d")] },
      { t: "quorumLost", answering: 1, voters: 4 },
    ],
    [
      "whose voters start for the first time is being joined, though nobody answers at this moment",
      {
        etcd: "silent",
        status: { size: 3, voters: ["demo-a", "demo-b", "demo-c"] },
        members: [away("a"), ...newcomers],
      },
      { t: "joining" },
    ],
    [
      "whose only started voter answers beside others that start for the first time is being joined",
      { etcd: "noQuorum", members: [voter("a"), ...newcomers] },
      { t: "joining" },
    ],
    [
      "whose new voters are still not there after a minute has lost its quorum",
      { etcd: "noQuorum", members: [voter("a"), late("b"), late("c")] },
      { t: "quorumLost", answering: 1, voters: 3 },
    ],
    [
      "whose voters have served before, and start again, has lost its quorum",
      { etcd: "noQuorum", members: [voter("a"), first("b", { readyOnce: true }), first("c", { readyOnce: true })] },
      { t: "quorumLost", answering: 1, voters: 3 },
    ],
    [
      "of which too few hold data has lost it",
      { etcd: "noQuorum", members: [voter("a"), gone("b"), gone("c")] },
      { t: "dataLost", left: 1, voters: 3 },
    ],
    [
      "of which just enough hold data has not lost it",
      { etcd: "noQuorum", members: [voter("a"), away("b"), gone("c")] },
      { t: "quorumLost", answering: 1, voters: 3 },
    ],
    [
      "whose learner answers and whose voter does not has lost its quorum",
      { etcd: "noQuorum", members: [away("a"), learner("b")] },
      { t: "quorumLost", answering: 0, voters: 1 },
    ],
    [
      "that is silent counts the voters that its status knows",
      { etcd: "silent", status: { size: 5, voters: ["demo-a", "demo-b", "demo-z"] }, members: three },
      { t: "quorumLost", answering: 0, voters: 3 },
    ],
    [
      "that is silent, of an older release, counts its pods",
      { etcd: "silent", status: { size: 3 }, members: [voter("a"), voter("b", { pod: ended })] },
      { t: "dataLost", left: 1, voters: 3 },
    ],
    [
      "whose first member served, and lost its data before its id was written down, has lost it",
      { unrecorded: true, etcd: "silent", members: [away("a", { pod: { ...withoutData, readyOnce: true } })] },
      { t: "dataLost", left: 0, voters: 1 },
    ],
    [
      "whose first member lost its data before any client was sent to it is being created: it is made again",
      { unrecorded: true, etcd: "silent", members: [away("a", { pod: withoutData })] },
      { t: "creating" },
    ],
    ["that has nothing at all has lost one voter at least", { etcd: "nobody" }, { t: "dataLost", left: 0, voters: 1 }],
  ];
  for (const [what, sample, wanted] of table)
    test(what, () => assert.deepEqual(assess(sampleWorld(sample), sampleNow).health, wanted));
});

test("a cluster has served when an operator said so, or when a pod of it was ready and has not ended", () => {
  const said: [object, boolean][] = [
    [{}, false],
    [{ clusterId: "" }, false],
    [{ clusterId: "c1" }, true],
    [{ phase: "Creating" }, false],
    [{ phase: "Running" }, true],
    [{ phase: "Failed" }, true],
  ];
  for (const [status, wanted] of said) assert.equal(isKnownToHaveServed(status), wanted, JSON.stringify(status));
  const served = (...pods: NonNullable<SampleMember["pod"]>[]): boolean =>
    hasServed(sampleWorld({ unrecorded: true, members: pods.map((pod, n) => voter("abc"[n] ?? "", { pod })) }));
  assert.equal(served(), false);
  assert.equal(served({}), false);
  assert.equal(served({}, { readyOnce: true }), true);
  assert.equal(served({ ...ended, readyOnce: true }), false);
  assert.equal(hasServed(sampleWorld({ members: three })), true);
});

describe("a voter of no use", () => {
  const changedFrom = { version: "3.6.15", image: "i", restarts: 0 };
  const unready = { ready: false, state: running } as const;
  const silent = (pod: SampleMember["pod"]): SampleMember => voter("c", { silent: true, pod });
  const table: [string, SampleMember, boolean, SampleWorld?][] = [
    ["is not one that serves", voter("c"), false],
    ["is not one that serves and goes", voter("c", { pod: going }), false],
    ["is one that is silent", silent({}), true],
    ["is one that has no pod", silent(undefined), true],
    ["is one that exits", silent(crashing(1000)), true],
    ["is one that starts again", silent(starting), true],
    ["is not a learner", learner("c", { silent: true }), false],
    ["is not one that has yet to join", unnamed("c"), false],
    ["is not one that was never ready", silent(unready), false],
    ["is one that was ready once", silent({ ...unready, readyOnce: true }), true],
    ["is not one whose image was changed", silent({ changedFrom }), false],
    ["is one whose image was changed and that goes", silent({ changedFrom, ...going }), true],
    ["is one that lost its data, though it was never ready", voter("c", { wiped: true, pod: unready }), true],
    ["is one that lost its data after a change", voter("c", { wiped: true, pod: { changedFrom } }), true],
    ["is not one that answers while there is no leader", voter("c"), false, { etcd: "noQuorum" }],
    ["is one that is silent while there is no leader", silent({}), true, { etcd: "noQuorum" }],
  ];
  for (const [what, member, wanted, more] of table)
    test(what, () => {
      const { world, instances } = assess(
        sampleWorld({ members: [voter("a"), voter("b"), member], ...more }),
        sampleNow,
      );
      const names = unhealthyVoters(world, instances).map(({ name }) => name);
      assert.deepEqual(names, wanted ? ["demo-c"] : []);
    });
});
