// What a member's answer, its pod and its node say together.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MemberPod } from "../observe/world.ts";
import {
  added,
  crashing,
  ended,
  going,
  gone,
  homeless,
  learner,
  onSilentNode,
  running,
  starting,
  voter,
  young,
} from "../testing/plan-table.ts";
import { type SampleMember, type SampleWorld, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { assess } from "./assess.ts";
import { hasStarted, isAboutToServe, isOwedPod, isPodless, isStarting, type Instance } from "./instances.ts";

function instanceOf(member: SampleMember, more: SampleWorld = {}): Instance {
  const instance = assess(sampleWorld({ members: [voter("a"), voter("b"), member], ...more }), sampleNow).instances[2];
  assert.ok(instance);
  return instance;
}

/** The time until it counts as lost stands behind the state, as does why it is. */
function inWords({ state }: Instance): string {
  if ("because" in state) return `${state.t}: ${state.because}${"wiped" in state ? " (wiped)" : ""}`;
  return "lostAt" in state && state.lostAt !== undefined ? `${state.t} for ${state.lostAt - sampleNow}` : state.t;
}

const silent = (pod: Partial<MemberPod>): SampleMember => voter("c", { silent: true, pod });
const isNew = (pod: Partial<MemberPod>): SampleMember => added("c", { pod });
const exited = (agoMs: number): Partial<MemberPod> => ({
  state: {
    t: "crashing",
    since: sampleNow - 200_000,
    exitedAt: sampleNow - agoMs,
    restarts: 5,
    problem: "exit code 1",
  },
});
const withoutData: Partial<MemberPod> = {
  state: { t: "crashing", since: sampleNow, exitedAt: sampleNow, restarts: 1, problem: "x", withoutData: true },
};
const restoring = (problem?: string): Partial<MemberPod> => ({
  guard: "open",
  createdAt: sampleNow,
  state: { t: "starting", restoring: true, ...(problem !== undefined && { problem }) },
});
const changedFrom = { version: "3.6.15", image: "i", restarts: 0 };

describe("a member", () => {
  const table: [string, SampleMember, string, SampleWorld?][] = [
    ["that serves is healthy", voter("c"), "healthy"],
    ["that learns is learning", learner("c"), "learning"],
    ["that is not ours is foreign", voter("c", { foreign: true }), "foreign"],
    ["whose pod answers as another cluster is a stranger", silent({}), "stranger", { strangers: ["c"] }],
    ["that does not answer is away", silent({}), "away"],
    ["that is made from a backup is away", silent(restoring()), "away"],
    [
      "whose data cannot be made from a backup is tried again for a while",
      silent(restoring("no such Secret")),
      "away for 120000",
    ],
    [
      "whose data cannot be made from a backup for long is lost",
      silent({ ...restoring("no such Secret"), createdAt: sampleNow - 200_000 }),
      "lost: its data could not be made from the backup (no such Secret)",
    ],
    [
      "that is held back while the others serve is lost",
      silent({ guard: "open", gated: true, state: { t: "pending" } }),
      "lost: its pod was never allowed to start",
    ],
    [
      "that serves on a claim which is being deleted is doomed",
      voter("c", { claim: { terminating: true } }),
      "doomed: the claim of its volume is being deleted",
    ],
    [
      "that serves on a volume which is lost is doomed",
      voter("c", { claim: { phase: "Lost" } }),
      "doomed: its volume is lost",
    ],
    [
      "whose pod is deleted after its claim is leaving",
      voter("c", { claim: { terminating: true }, pod: going }),
      "leaving: the claim of its volume is being deleted",
    ],
    [
      "that learns on a claim which is being deleted is lost",
      learner("c", { claim: { terminating: true } }),
      "lost: the claim of its volume is being deleted",
    ],
    [
      "that does not answer on a claim which is being deleted is away while its process runs",
      voter("c", { silent: true, claim: { terminating: true } }),
      "away",
    ],
    [
      "whose process ended on a claim which is being deleted is away for a while",
      voter("c", {
        silent: true,
        claim: { terminating: true },
        pod: {
          changedFrom,
          state: { t: "crashing", since: sampleNow - 50_000, exitedAt: sampleNow - 50_000, restarts: 0, problem: "x" },
        },
      }),
      "away for 70000",
    ],
    [
      "whose process ended on a claim which is being deleted is lost then",
      voter("c", { silent: true, claim: { terminating: true }, pod: exited(200_000) }),
      "lost: its etcd keeps exiting (exit code 1)",
    ],
    [
      "that does not answer on a volume which is lost is lost",
      voter("c", { silent: true, claim: { phase: "Lost" } }),
      "lost: its volume is lost",
    ],
    [
      "whose volume fits no node that is left is lost",
      voter("c", {
        silent: true,
        pod: { ...homeless, createdAt: sampleNow - 60_000, node: { t: "none" } },
        claim: { node: { t: "gone", name: "" } },
      }),
      "lost: no remaining node can use its volume",
    ],
    ["that has a name, learns and does not answer is away", learner("c", { silent: true }), "away"],
    ["that has never been heard of is unstarted", isNew({}), "unstarted"],
    ["that votes and has never been heard of is unstarted", voter("c", { unnamed: true }), "unstarted"],
    ["whose pod is gone is lost", gone("c"), "lost: its pod is gone, and its data with it"],
    [
      "that learned and whose pod is gone is lost, too",
      { ...gone("c"), learner: true },
      "lost: its pod is gone, and its data with it",
    ],
    [
      "that votes, unheard of, and has no pod is lost",
      voter("c", { unnamed: true, pod: undefined }),
      "lost: its pod is gone, and its data with it",
    ],
    ["that never ran and has no pod is unstarted", added("c", { pod: undefined }), "unstarted"],
    [
      "that went backwards is lost, though it serves",
      voter("c", { wiped: true }),
      "lost: it came back without its data (wiped)",
    ],
    [
      "that found no data is lost",
      silent(withoutData),
      "lost: its data is gone, and etcd does not start without (wiped)",
    ],
    [
      "that found no data at its first start is unstarted",
      isNew({ ...withoutData, guard: "open" }),
      "unstarted for 120000",
    ],
    ["whose pod has ended is lost", silent(ended), "lost: its pod has ended (Evicted)"],
    ["that never ran and whose pod has ended is lost", isNew(ended), "lost: its pod has ended (Evicted)"],
    ["that never ran and whose pod has ended and goes is unstarted", isNew({ ...ended, ...going }), "unstarted"],
    ["whose pod goes is leaving, though it serves", voter("c", { pod: going }), "leaving: its pod is being deleted"],
    ["that learns and whose pod goes is leaving", learner("c", { pod: going }), "leaving: its pod is being deleted"],
    ["that never ran and whose pod goes is unstarted", isNew(going), "unstarted"],
    [
      "that never ran and whose pod goes with its node is leaving",
      isNew({ ...going, ...onSilentNode(60_000) }),
      "leaving: its pod is being deleted",
    ],
    ["whose node is silent is away for a while", silent(onSilentNode(59_000)), "away for 1000"],
    ["whose node is silent for too long is lost", silent(onSilentNode(60_000)), "lost: its node n is gone"],
    ["that serves from a silent node is healthy", voter("c", { pod: onSilentNode(60_000) }), "healthy"],
    [
      "that has exited again after its time was up is lost",
      silent(exited(80_000)),
      "lost: its etcd keeps exiting (exit code 1)",
    ],
    ["that has not exited since its time was up is away", silent(exited(80_001)), "away"],
    ["that never ran and exits is unstarted for a while", isNew(crashing(119_000)), "unstarted for 1000"],
    [
      "that never ran and exits for too long is lost",
      isNew(crashing(120_000)),
      "lost: its etcd keeps exiting (exit code 1)",
    ],
    ["whose image was changed and that keeps exiting is away", silent({ ...exited(0), changedFrom }), "away"],
  ];
  for (const [what, member, wanted, more] of table)
    test(what, () => assert.equal(inWords(instanceOf(member, more)), wanted));
});

test("a voter is alive when it reads through the quorum and can be believed, even if it is about to go", () => {
  const alive = (member: SampleMember): boolean => instanceOf(member).alive;
  assert.deepEqual([voter("c"), voter("c", { pod: going })].map(alive), [true, true]);
  assert.deepEqual([learner("c"), silent({}), voter("c", { wiped: true })].map(alive), [false, false, false]);
});

test("a member has started when etcd knows its name, or when it answers", () => {
  assert.deepEqual(
    [voter("c"), silent({}), learner("c")].map((one) => hasStarted(instanceOf(one))),
    [true, true, true],
  );
  assert.equal(hasStarted(instanceOf(isNew({}))), false);
  assert.equal(
    hasStarted(instanceOf(silent(restoring()))),
    false,
    "its name is in the data that others were made from",
  );
});

describe("a member that never ran", () => {
  const table: [string, SampleMember, Record<"starts" | "serves" | "owed" | "podless", boolean>][] = [
    ["starts, and serves soon", isNew(starting), { starts: true, serves: true, owed: false, podless: false }],
    [
      "starts since long ago",
      isNew({ state: { t: "starting" } }),
      { starts: true, serves: false, owed: false, podless: false },
    ],
    [
      "has just been started",
      isNew({ ...young, state: running }),
      { starts: true, serves: true, owed: false, podless: false },
    ],
    ["runs since long ago", isNew({}), { starts: false, serves: false, owed: false, podless: false }],
    ["is held up", isNew(homeless), { starts: false, serves: false, owed: false, podless: false }],
    ["has no pod", added("c", { pod: undefined }), { starts: false, serves: false, owed: true, podless: true }],
    ["has a pod that goes", isNew(going), { starts: false, serves: false, owed: true, podless: false }],
    ["is none: its pod is gone, and it ran", gone("c"), { starts: false, serves: false, owed: false, podless: false }],
    ["is none: it starts again", silent(starting), { starts: false, serves: false, owed: false, podless: false }],
  ];
  for (const [what, member, wanted] of table)
    test(what, () => {
      const instance = instanceOf(member);
      assert.deepEqual(
        {
          starts: isStarting(instance, sampleNow),
          serves: isAboutToServe(instance, sampleNow),
          owed: isOwedPod(instance),
          podless: isPodless(instance),
        },
        wanted,
      );
    });
});
