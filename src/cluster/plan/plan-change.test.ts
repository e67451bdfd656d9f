// What is done about members that are there and differ from what is wanted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../assess/assess.ts";
import { settingsOf } from "../objects/settings.ts";
import type { ImageCheck, ImageCheckState, MemberPod } from "../observe/world.ts";
import { check, crashing, learner, onNodeOf, voter, young } from "../testing/plan-table.ts";
import { inWords } from "../testing/actions-in-words.ts";
import { type SampleMember, type SampleWorld, sampleCluster, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { planCluster } from "./plan.ts";

const imageOf = (version: string): string => `quay.io/coreos/etcd:v${version}`;
/** It runs this version, as its pod says and as it says itself. */
const of = (version: string, more: Partial<MemberPod> = {}): Partial<SampleMember> => ({
  version,
  pod: { version, image: imageOf(version), ...more },
});
/** Its image was changed from 3.6.15, and its container restarted so often since. */
const changed = (restarts: number, more: Partial<MemberPod> = {}): Partial<MemberPod> => ({
  changedFrom: { version: "3.6.15", image: imageOf("3.6.15"), restarts: 0 },
  state: { t: "running", restarts },
  ...more,
});
const old = (letter: string, more: Partial<MemberPod> = {}): SampleMember => voter(letter, of("3.6.15", more));

const tried = (letter: string, state: ImageCheckState, image = imageOf("3.6.16")): ImageCheck => ({
  name: `check-${letter}`,
  uid: `uid-of-check-${letter}`,
  createdAt: sampleNow - 1000,
  terminating: false,
  node: `node-of-demo-${letter}`,
  image,
  state,
});
/** Its node took no pod. */
const full: ImageCheckState = { t: "rejected", problem: "OutOfcpu" };
const found: ImageCheckState = { t: "found", version: "3.6.16" };
const proved = (...letters: string[]): Pick<SampleWorld, "change"> => ({
  change: { imageChecks: letters.map((letter) => tried(letter, found)) },
});
const checks = (...imageChecks: ImageCheck[]): Pick<SampleWorld, "change"> => ({ change: { imageChecks } });
const on = (letter: string): string => `try quay.io/coreos/etcd:v3.6.16 on node-of-demo-${letter}`;

check("another version", [
  [
    "is tried on every node at once before the first member gets it",
    { members: [old("a"), old("b"), old("c")] },
    [on("b"), on("c"), on("a")],
  ],
  [
    "is given to a follower first, after the members were compared",
    { members: [old("a"), old("b"), old("c")], ...proved("a", "b", "c") },
    ["change b from 3.6.15 to 3.6.16 after comparing"],
  ],
  [
    "is given to the next without comparing once one has it",
    { members: [old("a"), voter("b"), old("c")], ...proved("a", "c") },
    ["change c from 3.6.15 to 3.6.16"],
  ],
  [
    "is given to the leader last, when another leads",
    { members: [old("a"), voter("b"), voter("c")], ...proved("a") },
    ["lead b"],
  ],
  [
    "is given to the last one when it leads no more",
    { members: [old("a"), voter("b"), voter("c")], leader: "b", ...proved("a") },
    ["change a from 3.6.15 to 3.6.16"],
  ],
  [
    "is given to a lone member as it is",
    { size: 1, members: [old("a")], ...proved("a") },
    ["change a from 3.6.15 to 3.6.16 after comparing"],
  ],
  [
    "waits until the image was tried",
    {
      members: [old("a"), old("b"), old("c")],
      ...checks(tried("a", found), tried("b", { t: "running" }), tried("c", found)),
    },
    [],
  ],
  [
    "waits until what was printed is read",
    {
      members: [old("a"), old("b"), old("c")],
      ...checks(tried("a", found), tried("b", { t: "ended" }), tried("c", found)),
    },
    ["read check-b"],
  ],
  [
    "is given to nobody when the image holds another one",
    {
      members: [old("a"), old("b"), old("c")],
      ...checks(tried("a", found), tried("b", found), tried("c", { t: "found", version: "3.5.35" })),
    },
    [],
  ],
  [
    "is given to nobody while the image cannot be pulled",
    {
      members: [old("a"), old("b"), old("c")],
      ...checks(tried("a", found), tried("b", { t: "running", problem: "ErrImagePull" }), tried("c", found)),
    },
    [],
  ],
  [
    "waits for one that was just changed, though it still answers as before",
    { members: [old("a"), voter("b", { version: "3.6.15", pod: changed(0) }), old("c")], ...proved("a", "c") },
    [],
  ],
  [
    "is confirmed when a changed member serves in it",
    { members: [old("a"), voter("b", { pod: changed(1) }), old("c")], ...proved("a", "c") },
    ["confirm b"],
  ],
  [
    "waits for one that has not come up",
    { members: [old("a"), voter("b", { silent: true, pod: changed(0) }), old("c")], ...proved("a", "c") },
    [],
  ],
  [
    "stops at one that keeps exiting, and does not replace it: its data is there",
    {
      members: [old("a"), voter("b", { silent: true, pod: { ...changed(0), ...crashing(900_000) } }), old("c")],
      ...proved("a", "c"),
    },
    [],
  ],
  [
    "is taken back from one that does not come up as soon as the spec is set back",
    {
      version: "3.6.15",
      members: [
        old("a"),
        voter("b", {
          silent: true,
          pod: { ...changed(0), ...crashing(900_000), version: "3.6.16", image: imageOf("3.6.16") },
        }),
        old("c"),
      ],
    },
    ["change b from 3.6.15 to 3.6.15"],
  ],
  [
    "is taken back from one whose silence costs the quorum, too",
    {
      version: "3.6.15",
      size: 1,
      etcd: "silent",
      members: [
        voter("a", { pod: { ...changed(0), ...crashing(900_000), version: "3.6.16", image: imageOf("3.6.16") } }),
      ],
    },
    ["change a from 3.6.15 to 3.6.15"],
  ],
  [
    "waits for a member that is away",
    { members: [old("a"), voter("b", { ...of("3.6.15"), silent: true }), old("c")], ...proved("a", "b", "c") },
    [],
  ],
  [
    "waits while a member joins",
    { size: 4, members: [old("a"), old("b"), old("c"), learner("d", { raftIndex: 10 })], ...proved("a", "b", "c") },
    [],
  ],
  [
    "is left to a person who deletes the pods",
    { spec: { updateStrategy: "OnDelete" }, members: [old("a"), old("b"), old("c")] },
    [],
  ],
  [
    "is made ready for in etcd all the same, where a person deletes the pods",
    {
      version: "3.7.3",
      spec: { updateStrategy: "OnDelete" },
      members: ["a", "b", "c"].map((letter) => voter(letter, { ...of("3.6.16"), storage: "3.6.0" })),
    },
    ["enable downgrade to 3.5.0"],
  ],
  [
    "leaves no pods behind that tried its image",
    { members: [voter("a"), voter("b"), voter("c")], ...checks(tried("a", found)) },
    ["delete check-a"],
  ],
  [
    "is tried again where the image could not be had two minutes ago",
    {
      members: [voter("a"), old("b"), voter("c")],
      ...checks({ ...tried("b", { t: "running", problem: "ErrImagePull" }), createdAt: sampleNow - 121_000 }),
    },
    ["delete check-b"],
  ],
]);

const settings = (spec: object): Partial<MemberPod> => ({ madeFrom: settingsOf(sampleCluster({ spec }).spec) });
const stored = (version: string, storage: string, downgrade?: string): SampleMember[] =>
  ["a", "b", "c"].map((letter) => voter(letter, { ...of(version), storage, says: { downgrade } }));

check("what etcd is brought to first", [
  [
    "a log that 3.7 could not read is written down as made again before the downgrade is cancelled",
    { version: "3.7.3", status: { raftLogVersion: "3.5" }, members: stored("3.6.16", "3.5.0", "3.5.0") },
    ["log of 3.6", "cancel downgrade"],
    500,
  ],
  [
    "a downgrade that nobody wants is cancelled",
    { version: "3.7.3", members: stored("3.7.3", "3.6.0", "3.6.0") },
    ["cancel downgrade"],
    500,
  ],
  [
    "data is waited for until it is stored in the older version",
    { version: "3.6.16", members: stored("3.7.3", "3.7.0", "3.6.0") },
    [],
    500,
  ],
  [
    "nothing, while the spec is wrong",
    {
      version: "3.7.3",
      members: stored("3.7.3", "3.6.0", "3.6.0").map((one) => ({ ...one, pod: { ...one.pod, ...settings({}) } })),
      change: { problems: ["Wrong."] },
    },
    [],
  ],
  [
    "nothing, while a member is away",
    {
      version: "3.6.16",
      members: [...stored("3.7.3", "3.7.0").slice(1), voter("d", { ...of("3.7.3"), silent: true })],
    },
    [],
  ],
]);

check("a member that is changed", [
  [
    "steps down only where etcd can be asked to",
    {
      version: "3.2.32",
      members: [voter("a", of("3.2.31")), voter("b", of("3.2.32")), voter("c", of("3.2.32"))],
      change: { imageChecks: [tried("a", { t: "found", version: "3.2.32" }, imageOf("3.2.32"))] },
    },
    ["change a from 3.2.31 to 3.2.32"],
  ],
  [
    "has its image tried once where another is on the same node",
    { members: [voter("a"), old("b"), old("c", onNodeOf("b"))] },
    [on("b")],
    30_000,
  ],
  [
    "waits while its node takes no pod that would try the image",
    { size: 2, members: [voter("a"), old("b")], ...checks(tried("b", full)) },
    [],
  ],
  [
    "has its image tried again there",
    { size: 2, members: [voter("a"), old("b")], ...checks({ ...tried("b", full), createdAt: sampleNow - 30_001 }) },
    ["delete check-b"],
  ],
  [
    "need not have its image tried there where others of three run it",
    { members: [voter("a"), old("b"), old("c")], ...checks(tried("b", full), tried("c", full)) },
    ["change b from 3.6.15 to 3.6.16"],
  ],
  [
    "need not have its image tried there where it was found on another node",
    { members: [old("a"), old("b"), old("c")], ...checks(tried("a", full), tried("b", full), tried("c", found)) },
    ["change b from 3.6.15 to 3.6.16 after comparing"],
  ],
  [
    "waits for its own node only",
    { members: [voter("a"), old("b"), old("c")], ...checks(tried("b", found), tried("c", { t: "running" })) },
    ["change b from 3.6.15 to 3.6.16"],
  ],
]);

const before = settings({});
const after = settings({ etcd: { snapshotCount: 5000 } });
const spec = { etcd: { snapshotCount: 5000 } };
const made = (letter: string, pod: Partial<MemberPod>, more: Partial<SampleMember> = {}): SampleMember =>
  voter(letter, { pod, ...more });

check("other settings", [
  [
    "are those of a new member that joins first",
    { spec, members: [made("a", before), made("b", before), made("c", before)] },
    ["add learner new1", "pod new1"],
  ],
  [
    "cost a member that was made before only when the new one votes",
    {
      spec,
      members: [made("a", before), made("b", before), made("c", before), learner("d", { pod: after, raftIndex: 1 })],
    },
    [],
  ],
  [
    "cost a follower first",
    { spec, members: [made("a", before), made("b", before), made("c", before), made("d", after)] },
    ["remove b", "delete b"],
  ],
  [
    "cost the follower first that has the new member beside it",
    {
      spec,
      members: [made("a", before), made("b", before), made("c", before), made("d", { ...after, ...onNodeOf("c") })],
    },
    ["remove c", "delete c"],
  ],
  [
    "cost the leader last, also with the new member beside it",
    {
      spec,
      members: [made("a", before), made("b", before), made("c", before), made("d", { ...after, ...onNodeOf("a") })],
    },
    ["remove b", "delete b"],
  ],
  [
    "cost the leader last, when a new one leads",
    { spec, members: [made("a", before), made("b", after), made("c", after), made("d", after)] },
    ["lead b"],
  ],
  [
    "cost nobody while another member is away",
    { spec, members: [made("a", before), made("b", before), made("c", before, { silent: true }), made("d", after)] },
    [],
  ],
  [
    "of a wrong spec cost nobody",
    { spec, members: [made("a", before), made("b", before), made("c", before)], change: { problems: ["Wrong."] } },
    [],
  ],
  [
    "are not known of pods of another operator, which stay",
    { spec, members: [voter("a"), voter("b"), voter("c")] },
    [],
  ],
  [
    "that were taken back cost the new member its place",
    { members: [made("a", before), made("b", before), made("c", before), made("d", after)] },
    ["remove d", "delete d"],
  ],
  [
    "with a smaller size cost those that would have to be replaced",
    {
      size: 1,
      spec,
      leader: "d",
      members: [made("a", before), made("b", before), made("c", before), made("d", after)],
    },
    ["remove c", "delete c"],
  ],
  [
    "with a smaller size cost one that would have to be replaced before one that is newer",
    { size: 1, spec, members: [made("a", after), made("b", before), made("c", { ...after, ...young })] },
    ["remove b", "delete b"],
  ],
  [
    "of labels and annotations are given to pods that run",
    { spec: { pod: { labels: { team: "db" } } }, members: [made("a", before), made("b", before), made("c", before)] },
    ["relabel a", "relabel b", "relabel c"],
  ],
  [
    "that no pod is made from cost nobody",
    {
      spec: { pod: { busyboxImage: "other", DNSTimeoutInSecond: 9 } },
      members: [made("a", before), made("b", before), made("c", before)],
    },
    [],
  ],
]);

test("no member goes before a new one has joined in its place, though none can be added", () => {
  const world = sampleWorld({ spec, members: [made("a", before), made("b", before), made("c", before)] });
  const { decisions } = planCluster(assess(world, sampleNow), () => 0.5);
  assert.deepEqual(
    decisions.map(({ actions }) => inWords(actions)),
    [["add learner new1", "pod new1"], []],
  );
});

test("while members are replaced the status calls it an update and no change of size", () => {
  const { desired, roll } = assess(
    sampleWorld({ spec, members: [made("a", before), made("b", before), made("c", before), made("d", after)] }),
    sampleNow,
  );
  assert.deepEqual([desired.size, desired.withSurge, roll.surge, roll.updated], [3, 4, 1, 1]);
});
