// The data of a cluster is replaced by that of a backup: what is done at each step, and what must not be.
import assert from "node:assert/strict";
import { test } from "node:test";
import { restoreAnnotation } from "../../api/etcd-cluster/restore-annotation.ts";
import { assess } from "../assess/assess.ts";
import { seedName } from "../objects/names.ts";
import type { ClusterWorld, MemberPod } from "../observe/world.ts";
import { planCluster } from "./plan.ts";
import {
  check,
  going,
  gone,
  homeless,
  minute,
  onSilentNode,
  three,
  unchanged,
  voter,
  young,
} from "../testing/plan-table.ts";
import { inWords } from "../testing/actions-in-words.ts";
import {
  freshClaim,
  otherClusterId,
  sampleClaim,
  sampleCluster,
  sampleName,
  sampleNow,
  type SampleMember,
  sampleWorld,
  type SampleWorld,
} from "../testing/sample-world.ts";

const asked = { annotations: { [restoreAnnotation]: "again/r2" } };
const done = { restore: { name: "again", uid: "r2", phase: "Done" } };
const stopping = { restore: { name: "again", uid: "r2", phase: "Stopping" } };
const seeding = { restore: { name: "again", uid: "r2", phase: "Seeding" }, clusterId: undefined, phase: "Creating" };
const stopped = ["delete a soon", "delete b soon", "delete c soon"];

check("a restore that is asked for", [
  ["is written down before anything is done", { ...asked, members: three }, ["begin restore again"]],
  [
    "goes before the care for a member that is lost",
    { ...asked, members: [voter("a"), voter("b"), gone("c")] },
    ["begin restore again"],
  ],
  ["is begun without a quorum, too", { ...asked, etcd: "nobody", members: [gone("a")] }, ["begin restore again"]],
  [
    "is begun in pods of another cluster",
    { ...asked, members: three, status: { clusterId: otherClusterId } },
    ["begin restore again"],
  ],
  ["is not done again", { ...asked, status: done, members: three }, []],
  ["waits while the cluster is paused", { ...asked, spec: { paused: true }, members: three }, []],
  [
    "is begun when an earlier one was done",
    { ...asked, status: { restore: { name: "before", uid: "r1", phase: "Done" } }, members: three },
    ["begin restore again"],
  ],
  [
    "is begun when an earlier one never came to its end",
    { ...asked, status: { ...seeding, restore: { name: "before", uid: "r1", phase: "Seeding" } }, etcd: "nobody" },
    ["begin restore again"],
  ],
  [
    "keeps a new cluster from beginning without its data",
    { ...asked, unrecorded: true, etcd: "nobody" },
    ["begin restore again"],
  ],
]);

const asking = (is: "over" | "gone" | "unreadable", to: "this" | "new" | "unsaid") => ({
  change: { asking: { name: "again", uid: "r2", is, to } },
});

check("an annotation that asks for a restore", [
  ["asks for nothing when its EtcdRestore is over", { ...asking("over", "this"), members: three }, []],
  [
    "of an older release asks for nothing when its EtcdRestore is gone",
    { ...asking("gone", "unsaid"), members: three },
    [],
  ],
  [
    "asks for nothing when its EtcdRestore is gone: nothing was touched",
    { ...asking("gone", "this"), members: three },
    [],
  ],
  [
    "asks on when its EtcdRestore cannot be read, and is refused in a sentence",
    { ...asking("unreadable", "this"), members: three },
    ["begin restore again"],
  ],
  [
    "keeps a cluster that has yet to begin from beginning when its EtcdRestore is gone",
    { ...asking("gone", "this"), unrecorded: true, etcd: "nobody" },
    ["begin restore again"],
  ],
  [
    "keeps a cluster that was made for it from beginning without its data",
    { ...asking("gone", "new"), unrecorded: true, etcd: "nobody" },
    ["begin restore again"],
  ],
  [
    "keeps it from that while the EtcdRestore cannot be read, too",
    { ...asking("unreadable", "new"), unrecorded: true, etcd: "nobody" },
    ["begin restore again"],
  ],
  [
    "keeps no cluster from beginning when its EtcdRestore is over",
    { ...asking("over", "unsaid"), unrecorded: true, etcd: "nobody" },
    ["seed new1"],
  ],
]);

check("members of a cluster whose data is replaced", [
  ["are stopped, all of them", { status: stopping, members: three }, stopped],
  ["are stopped whether or not they answer", { status: stopping, etcd: "nobody", members: three }, stopped],
  [
    "are waited for while they end",
    { status: stopping, etcd: "nobody", members: [voter("a", { pod: going }), voter("b")] },
    ["delete b soon"],
  ],
  [
    "are not waited for on a node that is lost",
    { status: stopping, members: [voter("a", { pod: { ...going, ...onSilentNode(2 * minute) } })] },
    ["delete a by force"],
  ],
  [
    "keep their volumes, whatever the retention says",
    {
      status: stopping,
      spec: { volumeRetention: { whenMemberRemoved: "Delete" } },
      members: [voter("a", { claim: {} }), voter("b", { claim: {} })],
    },
    ["retire claim a", "retire claim b", "delete a soon", "delete b soon"],
  ],
  [
    "are gone: now the first of the restored cluster can be made",
    { status: stopping, etcd: "nobody" },
    ["begin seed of again"],
  ],
  [
    "are gone and their claims are not retired yet",
    { status: stopping, etcd: "nobody", change: { claims: [sampleClaim("a")] } },
    ["retire claim a"],
  ],
  ["stay while the cluster is paused", { status: stopping, spec: { paused: true }, members: three }, []],
]);

const retired = { ...sampleClaim("a"), role: "retired" } as const;

test("the seed of a restored cluster is made although volumes of the one before are kept", () => {
  const actions = first({ status: seeding, etcd: "nobody", unrecorded: true, change: { claims: [retired] } });
  assert.deepEqual(actions, ["seed new1"]);
});

test("its name is another than that of the seed before, and the same for the same restore", () => {
  const seedOf = (status: object): string => seedName(sampleCluster({ status, unrecorded: true }));
  assert.notEqual(seedOf({}), seedOf(seeding));
  assert.equal(seedOf({}), seedOf(stopping));
  assert.equal(seedOf(seeding), seedOf(done));
});

test("volumes that an earlier cluster of the name left behind are not taken for the data of one that is restored", () => {
  const left = [sampleClaim("x")];
  const world: SampleWorld = { status: seeding, etcd: "nobody", unrecorded: true, change: { leftClaims: left } };
  assert.match(first(world).join(), /seed/);
});

const begun = (attempt: number, ...members: { name: string; pod?: string }[]): SampleWorld => ({
  status: {
    ...seeding,
    restore: {
      ...seeding.restore,
      plan: JSON.stringify({
        together: 3,
        ...(members.length > 0 && {
          beginning: { attempt, members: members.map((one) => ({ ...one, peerUrl: `http://${one.name}` })) },
        }),
      }),
    },
  },
  unrecorded: true,
  etcd: "silent",
});
const unmade = ["a", "b", "c"].map((letter) => ({ name: `demo-${letter}` }));
const made = unmade.map(({ name }) => ({ name, pod: `uid-of-${name}` }));
const heldBack = { pod: { ...young, gated: true, guard: "open", state: { t: "pending" } } } as const;
const heldBackLong = { pod: { ...heldBack.pod, createdAt: sampleNow - minute } };
const starting = { pod: { guard: "open", state: { t: "starting", restoring: true } } } as const;
const ended = { pod: { state: { t: "ended", problem: "Evicted" } } } as const;
const heldBackFor = (ms: number) => ({ pod: { ...heldBack.pod, createdAt: sampleNow - ms } });
const heldOnVolume = { ...heldBack, claim: { fresh: true } } as const;
const withoutClaim = { ...heldBack, claim: { fresh: true, terminating: true } } as const;
const homelessFor = (minutes: number): Partial<SampleMember> => ({
  pod: { ...homeless, ...unchanged, guard: "open", createdAt: sampleNow - minutes * minute },
});
/** Its pod was made again on its volume, while nobody knows whether the one before served. */
const returned = (pod: Partial<MemberPod>): Partial<SampleMember> => ({
  pod: { ...unchanged, ...pod, guard: "closed", uid: "another" },
  claim: { fresh: true },
});
const runningFor = (minutes: number): Partial<SampleMember> => ({
  pod: {
    guard: "open",
    ready: false,
    state: { t: "running", restarts: 0, since: sampleNow - minutes * minute, unheard: true },
  },
});
const servedOnVolume = { pod: { ...ended.pod, readyOnce: true }, claim: { fresh: true } } as const;

check("the first members of a restored cluster", [
  ["are named before any is made", begun(0), ["name 3 first"]],
  ["are not named beside the seed of an older operator", { ...begun(0), members: [voter("a", starting)] }, []],
  ["are made, all of them", { ...begun(0, ...unmade), etcd: "nobody" }, ["begin with a, b, c"]],
  [
    "are made where one is missing and none has run",
    { ...begun(0, ...unmade), members: [voter("a", heldBack), voter("b", heldBack)] },
    ["begin with c"],
  ],
  [
    "are as many as have been admitted after a while",
    { ...begun(0, ...unmade), members: [voter("a", heldBackLong), voter("b", heldBackLong)] },
    ["name 2 first"],
  ],
  [
    "are waited for until then",
    { ...begun(0, ...unmade), members: [voter("a", heldBackFor(25_000)), voter("b", heldBackFor(10_000))] },
    ["begin with c"],
  ],
  [
    "are let start when all are there",
    { ...begun(0, ...unmade), members: ["a", "b", "c"].map((name) => voter(name, heldBack)) },
    ["let a, b, c start"],
  ],
  [
    "are let start where an operator died after the first",
    { ...begun(0, ...made), members: [voter("a", starting), voter("b", heldBack), voter("c", heldBack)] },
    ["let a, b, c start"],
  ],
  [
    "are given up where nobody knows any more who they are, as after a rollback, and none has run",
    { ...begun(0), status: seeding, members: ["a", "b"].map((name) => voter(name, heldOnVolume)) },
    ["delete a", "delete b", "delete claim a", "delete claim b"],
  ],
  ["are waited for", { ...begun(0, ...made), members: ["a", "b", "c"].map((name) => voter(name, starting)) }, []],
  [
    "are waited for while a majority of them can come",
    { ...begun(0, ...made), members: [voter("a", starting), voter("b", starting), voter("c", ended)] },
    [],
  ],
  [
    "begin again when too few of them can come",
    { ...begun(0, ...made), members: [voter("a", starting), voter("b", ended)] },
    ["name 3 first"],
  ],
  [
    "begin again when one that is held back can never come: none has run",
    {
      ...begun(0, ...unmade),
      members: [voter("a", heldOnVolume), voter("b", heldOnVolume), voter("c", withoutClaim)],
    },
    ["name 3 first"],
  ],
  [
    "wait for nodes while one of them is made",
    { ...begun(0, ...made), members: [voter("a", starting), voter("b", homelessFor(9)), voter("c", homelessFor(9))] },
    [],
    minute,
  ],
  [
    "are as many as find a node after a while, where those are too few to serve",
    {
      ...begun(0, ...made),
      members: [voter("a", runningFor(2.1)), voter("b", homelessFor(3)), voter("c", homelessFor(3))],
    },
    ["name 1 first"],
  ],
  [
    "wait for nodes until then",
    {
      ...begun(0, ...made),
      members: [voter("a", runningFor(2)), voter("b", homelessFor(3)), voter("c", homelessFor(3))],
    },
    [],
  ],
  [
    "are a majority, and two of five wait for nodes",
    {
      ...begun(0, ...made, { name: "demo-d", pod: "uid-of-demo-d" }, { name: "demo-e", pod: "uid-of-demo-e" }),
      members: [
        ...["a", "b", "c"].map((name) => voter(name, runningFor(3))),
        ...["d", "e"].map((name) => voter(name, homelessFor(3))),
      ],
    },
    [],
  ],
  [
    "wait for nodes, where no node takes any of them",
    { ...begun(0, ...made), members: ["a", "b", "c"].map((name) => voter(name, homelessFor(3))) },
    [],
  ],
  [
    "go on without one that finds no node",
    {
      ...begun(0, ...made),
      members: [voter("a", runningFor(3)), voter("b", runningFor(3)), voter("c", homelessFor(3))],
    },
    [],
  ],
  [
    "keep the volumes of those that were Ready and have ended, for other pods: they hold what was written since",
    { ...begun(0, ...made), members: ["a", "b", "c"].map((name) => voter(name, servedOnVolume)) },
    ["delete a", "delete b", "delete c"],
  ],
  [
    "are waited for where no node takes pods that were made again on volumes: clients may have written to those",
    {
      ...begun(0, ...made),
      members: [
        voter("a", runningFor(3)),
        ...["b", "c"].map((name) => voter(name, returned(homelessFor(3).pod ?? {}))),
      ],
    },
    [],
  ],
  [
    "are waited for where such pods are deleted, too",
    {
      ...begun(0, ...made),
      members: [voter("a", runningFor(3)), ...["b", "c"].map((name) => voter(name, returned(going)))],
    },
    [],
  ],
  [
    "are waited for where such pods do not start",
    {
      ...begun(0, ...made),
      members: [
        voter("a", runningFor(3)),
        ...["b", "c"].map((name) => voter(name, returned(onSilentNode(9 * minute)))),
      ],
    },
    [],
  ],
  [
    "do not begin again once one of them was Ready",
    { ...begun(0, ...made), members: [voter("a", { pod: { readyOnce: true } }), voter("b", ended)] },
    [],
  ],
  [
    "are made when those of the attempt before are gone",
    { ...begun(1, ...unmade), members: [voter("x", starting), voter("y", starting)] },
    ["delete x", "delete y"],
  ],
]);

test("the first members are left alone while those that keep the operator out serve clients", () => {
  const denied = (serving: boolean): ClusterWorld["etcd"] => ({
    t: "accessDenied",
    trouble: { t: "noLogin" },
    refusing: [sampleName("a")],
    serving: serving ? [sampleName("a")] : [],
  });
  const members = [voter("a", starting), voter("b", ended), voter("c", ended)];
  const doneWith = (serving: boolean) => first({ ...begun(0, ...made), members, change: { etcd: denied(serving) } });
  assert.deepEqual(doneWith(true), []);
  assert.deepEqual(doneWith(false), ["name 3 first"]);
});

check("after a restore", [
  [
    "the member that was restored from a volume is replaced, so that backups can be taken there again",
    { status: done, members: [voter("a", { pod: { holdsBackups: true } }), voter("b"), voter("c")] },
    ["add learner new1", "pod new1"],
  ],
  [
    "it is not, before the cluster has its id: it is all there is",
    {
      status: { ...seeding },
      unrecorded: true,
      etcd: "silent",
      members: [voter("a", { pod: { holdsBackups: true } })],
    },
    [],
  ],
  [
    "members join one after the other: what was restored is in no log",
    { status: done, members: [voter("a", { raftIndex: 5 })] },
    ["add learner new1", "pod new1"],
  ],
]);

test("a fresh claim of the seed does not count as data", () => {
  const world: SampleWorld = {
    status: seeding,
    etcd: "nobody",
    unrecorded: true,
    change: { claims: [retired, freshClaim("b")] },
  };
  assert.match(first(world).join(), /seed/);
});

function first(sample: SampleWorld): readonly string[] {
  const [{ actions }] = planCluster(assess(sampleWorld(sample), sampleNow), () => 0.5).decisions;
  return inWords(actions);
}
