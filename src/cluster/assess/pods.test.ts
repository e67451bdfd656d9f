// What a pod's state means for its member, one question at a time.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { restartedAtAnnotation } from "../objects/member-pod.ts";
import { settingsOf } from "../objects/settings.ts";
import type { MemberPod, PodState } from "../observe/world.ts";
import { crashing, ended, going, homeless, running, starting, voter } from "../testing/plan-table.ts";
import { sampleCluster, sampleClaim, sampleNow, samplePod, sampleWorld } from "../testing/sample-world.ts";
import type { Desired } from "./desired.ts";
import { assess } from "./assess.ts";
import {
  hasChanged,
  hasLostData,
  hasOtherSettings,
  holdsData,
  isComingUp,
  isNodeLost,
  isOutdatedAndUnheard,
  isStuck,
  isYoung,
  knowsMembers,
  outdatedSetting,
  runsFor,
  stuckAt,
} from "./pods.ts";

const pod = (differs: Partial<MemberPod> = {}): MemberPod => samplePod("demo-a", differs);
const made = (agoMs: number): Partial<MemberPod> => ({ createdAt: sampleNow - agoMs });
const world = sampleWorld({ members: [voter("a")] });
const withoutData: Partial<MemberPod> = {
  state: { t: "crashing", since: 0, exitedAt: 0, restarts: 1, problem: "no data", withoutData: true },
};

/** Whether it is so of each of these pods. */
function check(question: string, is: (pod: MemberPod) => boolean, rows: [string, Partial<MemberPod>, boolean][]): void {
  describe(question, () => {
    for (const [what, differs, wanted] of rows)
      test(`${what}: ${wanted}`, () => assert.equal(is(pod(differs)), wanted));
  });
}

check("a pod is young", (one) => isYoung(one, sampleNow), [
  ["less than a minute old", made(59_999), true],
  ["a minute old", made(60_000), false],
]);

check("a pod will run soon, for all that is known", (one) => isComingUp(one, sampleNow), [
  ["starts", starting, true],
  ["starts since long ago", { ...starting, ...made(3_600_000) }, true],
  ["has just been started", { ...made(1000), state: running }, true],
  ["was started long ago and has not answered", {}, false],
  ["goes", { ...starting, ...going }, false],
  ["no node takes it", homeless, false],
]);

test("a process runs since it was started, or else since its pod was made", () => {
  const state: PodState = { t: "running", restarts: 0 };
  assert.equal(runsFor(pod({ ...made(9000), state }), sampleNow), 9000);
  assert.equal(runsFor(pod({ ...made(9000), state: { ...state, since: sampleNow - 4000 } }), sampleNow), 4000);
  assert.equal(runsFor(pod({ ...starting, ...made(9000) }), sampleNow), 0);
});

check("a pod has lost its data", hasLostData, [
  ["found none and had started before", { ...withoutData, guard: "closed" }, true],
  ["found none at its first start", { ...withoutData, guard: "open" }, false],
  ["exits for another reason", crashing(1000), false],
  ["runs", {}, false],
]);

check("a pod holds data", (one) => holdsData(one, one.hasVolume ? sampleClaim(one.name) : undefined), [
  ["runs", {}, true],
  ["exits again and again", crashing(1000), true],
  ["has lost it", withoutData, false],
  ["has ended", ended, false],
  ["goes", going, false],
  ["its node is gone", { node: { t: "gone", name: "n" } }, false],
  ["its node is silent", { node: { t: "silent", name: "n", since: 0 } }, true],
  ["has ended, with a volume", { ...ended, hasVolume: true }, true],
  ["goes, with a volume", { ...going, hasVolume: true }, true],
]);

check("a pod is lost with its node", (one) => isNodeLost(one, world, sampleNow), [
  ["that is well", {}, false],
  ["that is silent for a minute", { node: { t: "silent", name: "n", since: sampleNow - 60_000 } }, true],
  ["that is silent for less", { node: { t: "silent", name: "n", since: sampleNow - 59_999 } }, false],
  ["that is gone for a minute", { node: { t: "gone", name: "n", since: sampleNow - 60_000 } }, true],
  ["that is gone for less", { node: { t: "gone", name: "n", since: sampleNow - 59_999 } }, false],
  [
    "that is gone, who knows since when, and the pod is young",
    { ...made(1000), node: { t: "gone", name: "n" } },
    false,
  ],
  ["that is gone, who knows since when, and the pod is old", { ...made(60_000), node: { t: "gone", name: "n" } }, true],
]);

const changedFrom = { version: "3.6.15", image: "i", restarts: 2 };
check("a pod runs what its image was changed to", hasChanged, [
  ["restarted since", { changedFrom, state: { t: "running", restarts: 3 } }, true],
  ["not restarted since", { changedFrom, state: { t: "running", restarts: 2 } }, false],
  ["of which admission made what it had", { changedFrom, rewritten: "i", state: { t: "running", restarts: 2 } }, true],
  [
    "of which admission made what it served in, but had not of late",
    { changedFrom: { ...changedFrom, ran: "j" }, rewritten: "i", state: { t: "running", restarts: 2 } },
    false,
  ],
  ["restarts", { changedFrom, ...crashing(1000) }, false],
  ["was not changed", { state: { t: "running", restarts: 3 } }, false],
]);

const cluster = (spec: object = {}) => sampleCluster({ spec });
const desired = (spec: object = {}): Desired => assess(sampleWorld({ spec }), sampleNow).desired;
const madeFrom = (spec: object): Partial<MemberPod> => ({ madeFrom: settingsOf(cluster(spec).spec) });
const memory = (limit: string) => ({ limits: { memory: limit } });
const asks = (limit: string) => ({ pod: { resources: memory(limit) } });
const has = (limit: string): Partial<MemberPod> => ({
  resources: { limits: { memory: limit }, requests: { memory: limit } },
});
const bare = madeFrom({});

describe("only another pod can give it", () => {
  const table: [string, Partial<MemberPod>, object, string | undefined][] = [
    ["nothing, as it was made from the same", bare, {}, undefined],
    ["nothing that is known of a pod of another operator", {}, asks("1Gi"), undefined],
    ["nothing that is known of settings that cannot be read", { madeFrom: "?" }, asks("1Gi"), undefined],
    ["settings", bare, { etcd: { snapshotCount: 7 } }, "its settings have changed"],
    ["nothing, as labels are changed in place", bare, { pod: { labels: { team: "a" } } }, undefined],
    ["nothing, as more memory is given in place", { ...madeFrom(asks("1Gi")), ...has("1Gi") }, asks("2Gi"), undefined],
    ["nothing, as the memory was given in place", { ...madeFrom(asks("1Gi")), ...has("2Gi") }, asks("2Gi"), undefined],
    [
      "memory, where its process is killed again and again",
      { ...madeFrom(asks("1Gi")), ...has("1Gi"), ...crashing(1000) },
      asks("2Gi"),
      "Kubernetes cannot change its resources in place",
    ],
    [
      "no limit, where it had one",
      { ...madeFrom(asks("1Gi")), ...has("1Gi") },
      {},
      "Kubernetes cannot change its resources in place",
    ],
    ["a limit of another class of service", bare, asks("1Gi"), "Kubernetes cannot change its resources in place"],
  ];
  for (const [what, differs, spec, wanted] of table)
    test(what, () => assert.equal(outdatedSetting(pod(differs), cluster(spec)), wanted));
});

test("a restart that was asked for since it was made takes another pod", () => {
  const { metadata, ...rest } = cluster();
  const outdated = (asked: string | undefined, differs: Partial<MemberPod>): string | undefined => {
    const annotations = asked === undefined ? {} : { [restartedAtAnnotation]: asked };
    return outdatedSetting(pod({ ...bare, ...differs }), { ...rest, metadata: { ...metadata, annotations } });
  };
  assert.equal(outdated("noon", {}), "a restart was asked for");
  assert.equal(outdated("noon", { restartedAt: "dawn" }), "a restart was asked for");
  assert.equal(outdated("noon", { restartedAt: "noon" }), undefined);
  assert.equal(outdated(undefined, { restartedAt: "dawn" }), undefined);
});

test("a pod has other settings when it was made from another version, image or setting, or nobody can read from what", () => {
  const other = (differs: Partial<MemberPod>, spec: object = {}) => hasOtherSettings(pod(differs), desired(spec));
  assert.equal(other(bare), false);
  assert.equal(other({}), false);
  assert.equal(other({ ...bare, version: "3.6.15" }), true);
  assert.equal(other({ ...bare, image: "another" }), true);
  assert.equal(other(bare, { etcd: { snapshotCount: 7 } }), true);
  assert.equal(other({ madeFrom: "?" }), true);
});

check("a pod runs unheard, and its settings have changed since", (one) => isOutdatedAndUnheard(one, desired()), [
  ["both", { madeFrom: "?", state: { t: "running", restarts: 0, unheard: true } }, true],
  ["was heard of", { madeFrom: "?", state: running }, false],
  ["has the settings", { ...bare, state: { t: "running", restarts: 0, unheard: true } }, false],
  ["does not run", { madeFrom: "?", ...starting }, false],
]);

test("a member is let in with the list that etcd has, in any order", () => {
  const members = ["a", "b"].map((url) => ({ peerUrls: [url] }));
  const knows = (...joinsWith: string[]) => knowsMembers(pod({ joinsWith }), members as never);
  assert.deepEqual([knows("a", "b"), knows("b", "a")], [true, true]);
  assert.deepEqual([knows("a"), knows("a", "c"), knows("a", "b", "c"), knows("c", "d")], [false, false, false, false]);
  assert.equal(knowsMembers(pod(), members as never), true);
});

const problem: Partial<MemberPod> = { ...bare, state: { t: "starting", problem: "ErrImagePull" } };
check("a pod is stuck", (one) => isStuck(one, world, desired(), sampleNow), [
  ["has no problem", bare, false],
  ["has a problem for less than two minutes", { ...problem, ...made(119_999) }, false],
  ["has a problem for two minutes", { ...problem, ...made(120_000) }, true],
  ["has a problem and other settings than are wanted now", { ...problem, madeFrom: "?", ...made(1000) }, true],
  ["has ended", { ...bare, ...ended }, false],
]);

test("a pod is made again after two minutes, or sooner where a person says how long a crash loop may take", () => {
  const at = (differs: Partial<MemberPod>, crashLoopAfterSeconds: number): number =>
    stuckAt(pod({ ...made(0), ...differs }), { cluster: cluster({ failover: { crashLoopAfterSeconds } }) }) - sampleNow;
  assert.equal(at(problem, 300), 120_000);
  assert.equal(at(problem, 60), 60_000);
  assert.equal(at(crashing(1000), 300), 299_000);
  assert.equal(at({ ...bare, state: { t: "pending", problem: "Unschedulable" } }, 60), Number.POSITIVE_INFINITY);
  assert.equal(at({ state: { t: "pending", problem: "Unschedulable" } }, 60), 60_000);
});
