// The change of members that are there: who is changed, how and in which order, what that waits for, what stops it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MemberStatus } from "../../etcd/member.ts";
import { settingsOf } from "../objects/settings.ts";
import type { ImageCheck, ImageCheckState, MemberPod } from "../observe/world.ts";
import { crashing, ended, going, learner, starting, voter } from "../testing/plan-table.ts";
import { type SampleMember, type SampleWorld, sampleCluster, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { assess } from "./assess.ts";
import { brokenPods, type Roll } from "./roll.ts";

const imageOf = (version: string): string => `quay.io/coreos/etcd:v${version}`;
const running = (version: string) => ({ version, image: imageOf(version) });
/** It runs the version before the one that is wanted. */
const old = (letter: string, pod: Partial<MemberPod> = {}, more: Partial<SampleMember> = {}): SampleMember =>
  voter(letter, { version: "3.6.15", pod: { ...running("3.6.15"), ...pod }, ...more });
const of36 = (letter: string, pod: Partial<MemberPod> = {}, more: Partial<SampleMember> = {}): SampleMember =>
  voter(letter, { version: "3.6.16", storage: "3.6.0", pod: { ...running("3.6.16"), ...pod }, ...more });
const threeOld = [old("a"), old("b"), old("c")];
const changedFrom = { ...running("3.6.15"), restarts: 0 };
/** Its image was changed to the one that is wanted, and its container restarted so often since. */
const changed = (restarts: number): Partial<MemberPod> => ({ changedFrom, state: { t: "running", restarts } });
/** Made from other settings, which only another pod can have. */
const outdated: Partial<MemberPod> = {
  madeFrom: settingsOf(sampleCluster({ spec: { etcd: { snapshotCount: 7 } } }).spec),
};
/** etcd of the version that is wanted does not take it. */
const oldFlag: Partial<MemberPod> = { flags: ["enable-v2"] };

const rolled = (sample: SampleWorld): Roll => assess(sampleWorld(sample), sampleNow).roll;

describe("members that differ are changed:", () => {
  const changes = (sample: SampleWorld): string[] =>
    rolled(sample).changes.map(({ instance, how }) => `${instance.member.name.replace("demo-", "")} ${how}`);
  const silent = { silent: true } as const;
  const broken = { ...running("3.6.14"), changedFrom, ...crashing(1000) };
  const table: [string, SampleWorld, string[]][] = [
    ["none of those that run what is wanted", { members: [voter("a"), voter("b")] }, []],
    ["followers by their names, then the leader", { members: threeOld }, ["b inPlace", "c inPlace", "a inPlace"]],
    ["the leader last, whatever its name", { leader: "b", members: threeOld }, ["a inPlace", "c inPlace", "b inPlace"]],
    [
      "one that did not come up before all others, though it may lead",
      { leader: "c", members: [old("a"), old("b"), old("c", broken, silent)] },
      ["c inPlace", "a inPlace", "b inPlace"],
    ],
    [
      "one that is silent for another reason in its turn",
      { members: [old("a"), old("b"), old("c", {}, silent)] },
      ["b inPlace", "c inPlace", "a inPlace"],
    ],
    [
      "one whose image is another one of the same version",
      { members: [voter("a"), voter("b", { pod: { image: "registry.example/etcd:1" } })] },
      ["b inPlace"],
    ],
    ["no learner", { members: [voter("a"), learner("b", { pod: running("3.6.15") })] }, []],
    ["none whose pod goes or has ended", { members: [voter("a"), old("b", going), old("c", ended)] }, []],
    ["none without a pod", { members: [voter("a"), voter("b", { pod: undefined })] }, []],
    ["none while the spec is wrong", { members: threeOld, change: { problems: ["Mend it."] } }, []],
    [
      "by replacement where only another pod can have the settings",
      { members: [voter("a"), voter("b", { pod: outdated })] },
      ["b replace"],
    ],
    [
      "by replacement where the version does not take a flag",
      { members: [voter("a"), old("b", oldFlag)] },
      ["b replace"],
    ],
    [
      "in place when it did not come up, whatever else is to be changed",
      { members: [voter("a"), voter("b"), old("c", { ...broken, ...outdated }, silent)] },
      ["c inPlace"],
    ],
    [
      "not again when it did not come up in what is wanted",
      { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: { changedFrom, ...crashing(1000) } })] },
      [],
    ],
    [
      "not to a version that cannot be reached",
      {
        version: "3.7.3",
        members: ["a", "b"].map((letter) => voter(letter, { version: "3.5.35", pod: running("3.5.35") })),
      },
      [],
    ],
  ];
  for (const [what, sample, wanted] of table) test(what, () => assert.deepEqual(changes(sample), wanted));

  test("with a word on why", () => {
    const because = (member: SampleMember): string | undefined =>
      rolled({ members: [voter("a"), member, voter("c")] }).changes[0]?.because;
    assert.equal(because(old("b")), "it runs 3.6.15");
    assert.equal(because(old("b", broken, silent)), "it has not come up in 3.6.14");
    assert.equal(because(voter("b", { pod: outdated })), "its settings have changed");
  });
});

describe("the next change", () => {
  const away = voter("c", { silent: true });
  const table: [string, SampleWorld, string | undefined][] = [
    ["waits for nothing when all are well", { members: threeOld }, undefined],
    ["waits for nothing when there is none", { members: [voter("a"), voter("b"), away] }, undefined],
    [
      "waits for a member whose image was changed",
      { members: [old("a"), old("b"), voter("c", { version: "3.6.15", pod: changed(0) })] },
      "it waits for demo-c to serve again after the change",
    ],
    [
      "waits for a member that is away",
      { members: [old("a"), old("b"), old("c", {}, { silent: true })] },
      "it waits for demo-c to be healthy",
    ],
    [
      "waits for a member that is away also where etcd is to be prepared first",
      { version: "3.7.3", members: [of36("a"), of36("b"), of36("c", {}, { silent: true })] },
      "it waits for demo-c to be healthy",
    ],
    ["waits for a learner", { size: 4, members: [...threeOld, learner("d")] }, "it waits for demo-d to join"],
    [
      "waits for a member that is missing",
      { size: 4, members: threeOld },
      "it waits until the cluster has its 4 members",
    ],
    ["waits for one too many to go", { size: 2, members: threeOld }, "it waits until the cluster has its 2 members"],
    [
      "does not wait for the one too many that others are replaced through",
      { size: 2, members: [voter("a", { pod: outdated }), voter("b", { pod: outdated }), voter("c")] },
      undefined,
    ],
    [
      "does not wait for it where others are changed in place, either",
      { size: 2, members: [old("a"), old("b", oldFlag), voter("c")] },
      undefined,
    ],
    [
      "waits for the second one too many to go",
      { size: 2, members: [voter("a", { pod: outdated }), voter("b", { pod: outdated }), voter("c"), voter("d")] },
      "it waits until the cluster has its 2 members",
    ],
    [
      "waits while etcd has raised an alarm",
      { members: [old("a"), old("b"), old("c", {}, { alarm: "noSpace" })] },
      "it waits until the database has room: delete keys, compact and defragment, or raise spec.etcd.quotaBackendBytes. The operator disarms etcd's alarm (NOSPACE) when every database is below nine tenths of its quota",
    ],
    [
      "waits for a member that is far behind",
      { members: [old("a", {}, { raftIndex: 6001 }), old("b", {}, { raftIndex: 6001 }), voter("c")] },
      "it waits for demo-c to catch up",
    ],
    [
      "does not wait for a member that is close by",
      { members: [old("a", {}, { raftIndex: 6000 }), old("b", {}, { raftIndex: 6000 }), old("c")] },
      undefined,
    ],
  ];
  for (const [what, sample, wanted] of table) test(what, () => assert.equal(rolled(sample).waits, wanted));

  const GiB = 1024 ** 3;
  const rooms: [string, object, Partial<MemberStatus>, boolean][] = [
    ["nearly two GiB, which is what etcd allows where nobody says", {}, { dbSize: 1.91 * GiB }, true],
    ["a little less", {}, { dbSize: 1.89 * GiB }, false],
    [
      "nearly two GiB, and only the spec allows four by now",
      { quotaBackendBytes: 4 * GiB },
      { dbSize: 1.91 * GiB },
      true,
    ],
    ["nearly all that etcd says it allows", { quotaBackendBytes: 4 * GiB }, { dbSize: 96, dbSizeQuota: 100 }, true],
    ["just as much of it as may be used", {}, { dbSize: 95, dbSizeQuota: 100 }, false],
  ];
  for (const [what, etcd, says, waits] of rooms)
    test(`${waits ? "waits" : "does not wait"} for room when the database holds ${what}`, () => {
      const is = rolled({ members: [old("a"), old("b", {}, { says }), old("c")], spec: { etcd } }).waits ?? "";
      assert.equal(is.startsWith("it waits until the database of demo-b has room"), waits, is);
    });
});

describe("the change", () => {
  const check = (state: ImageCheckState, more: Partial<ImageCheck> = {}): ImageCheck => ({
    name: "check-b",
    uid: "u",
    createdAt: sampleNow - 1000,
    terminating: false,
    node: "node-of-demo-b",
    image: imageOf("3.6.16"),
    state,
    ...more,
  });
  const failed = check({ t: "failed", problem: "exit code 1" });
  const tried = (one: ImageCheck, members = threeOld): SampleWorld => ({ members, change: { imageChecks: [one] } });
  const other = /^the image quay.io\/coreos\/etcd:v3.6.16 holds etcd 3.6.15 and not 3.6.16\./;
  const onNode = (problem: string): RegExp =>
    new RegExp(`^the image quay.io/coreos/etcd:v3.6.16 cannot be used on node-of-demo-b: ${problem} No other`);
  const says = (pod: Partial<MemberPod>): SampleWorld => ({
    members: [old("a"), old("b"), voter("c", { version: "3.6.15", pod })],
  });
  const down = (pod: Partial<MemberPod>): SampleWorld => ({
    members: [old("a"), old("b"), voter("c", { silent: true, pod })],
  });
  const table: [string, SampleWorld, RegExp | undefined][] = [
    ["goes on when all is well", { members: threeOld }, undefined],
    ["stops when a pod of the image says another version", says({}), other],
    ["stops when one that was restarted in it does", says(changed(1)), other],
    ["goes on while one has yet to be restarted in it", says(changed(0)), undefined],
    ["goes on when such a pod goes", says(going), undefined],
    [
      "stops when a member does not come up in it",
      down({ changedFrom, ...crashing(1000) }),
      /^demo-c does not come up in 3.6.16 \(exit code 1\)\. No other member is changed\./,
    ],
    ["goes on while a member starts in it", down({ changedFrom, ...starting }), undefined],
    ["goes on when one that was not changed does not come up", down(crashing(1000)), undefined],
    ["stops where the image does not run on a node", tried(failed), onNode("exit code 1.")],
    [
      "stops where the image holds another version",
      tried(check({ t: "found", version: "3.5.35" })),
      onNode("it holds etcd 3.5.35 and not 3.6.16."),
    ],
    [
      "stops where the image cannot be had",
      tried(check({ t: "running", problem: "ErrImagePull" })),
      onNode("ErrImagePull."),
    ],
    ["goes on while the image is tried", tried(check({ t: "running" })), undefined],
    ["goes on where the image holds what it should", tried(check({ t: "found", version: "3.6.16" })), undefined],
    ["goes on when it is another image that does not run", tried({ ...failed, image: "another" }), undefined],
    ["goes on when it does not run on another node", tried({ ...failed, node: "another" }), undefined],
    ["goes on when it is tried again", tried({ ...failed, terminating: true }), undefined],
    [
      "goes on where the image is for nobody, because that member is replaced",
      tried(failed, [old("a"), old("b", oldFlag), old("c")]),
      undefined,
    ],
    [
      "goes on where the image is for one that is down anyway",
      tried(failed, [old("a"), old("b", {}, { silent: true }), old("c")]),
      undefined,
    ],
  ];
  for (const [what, sample, wanted] of table)
    test(what, () => {
      const { stopped, waits } = rolled(sample);
      if (wanted === undefined) assert.equal(stopped, undefined);
      else assert.match(stopped ?? "", wanted);
      if (wanted !== undefined) assert.equal(waits, stopped);
    });
});

describe("a member more than asked for", () => {
  const all = ["a", "b", "c"].map((letter) => voter(letter, { pod: outdated }));
  const table: [string, SampleWorld, 0 | 1][] = [
    ["joins before the first is replaced", { members: all }, 1],
    ["does not join when none is", { members: threeOld }, 0],
    ["does not join when a person deletes the pods", { spec: { updateStrategy: "OnDelete" }, members: all }, 0],
    [
      "does not join while the change waits",
      { members: [...all.slice(1), voter("d", { ...all[0], silent: true })] },
      0,
    ],
    ["stays while the change waits", { members: [...all.slice(1), voter("d"), voter("e", { silent: true })] }, 1],
    [
      "does not join before the turn of the first that is replaced",
      { members: [old("a"), old("b"), old("c", oldFlag)] },
      0,
    ],
    [
      "does not join before etcd is prepared",
      { version: "3.7.3", members: ["a", "b", "c"].map((letter) => of36(letter, outdated)) },
      0,
    ],
  ];
  for (const [what, sample, wanted] of table) test(what, () => assert.equal(rolled(sample).surge, wanted));
});

test("members count as updated when they run and say what the spec asks for, and nothing else is to be changed", () => {
  const updated = (...members: SampleMember[]): number => rolled({ members: [voter("a"), ...members] }).updated;
  const table: [SampleMember, number][] = [
    [voter("b"), 2],
    [voter("b", { silent: true }), 2],
    [old("b"), 1],
    [voter("b", { version: "3.6.15" }), 1],
    [voter("b", { pod: changed(1) }), 1],
    [voter("b", { pod: going }), 1],
    [voter("b", { pod: outdated }), 1],
    [voter("b", { pod: undefined }), 1],
    [learner("b"), 1],
  ];
  for (const [member, wanted] of table) assert.equal(updated(member), wanted, JSON.stringify(member));
});

test("without a quorum, pods that were changed, do not answer and are to run something else are broken", () => {
  const broken = (pod: Partial<MemberPod>, more: SampleWorld = { etcd: "silent" }): number =>
    brokenPods(sampleWorld({ members: [voter("a", { pod })], ...more }), running("3.6.15")).length;
  assert.equal(broken({ changedFrom }), 1);
  assert.equal(broken({ changedFrom }, { etcd: "noQuorum" }), 0);
  assert.equal(broken({}), 0);
  assert.equal(broken({ changedFrom, ...running("3.6.15") }), 0);
  assert.equal(broken({ changedFrom, ...going }), 0);
  assert.equal(broken({ changedFrom, ...ended }), 0);
});
