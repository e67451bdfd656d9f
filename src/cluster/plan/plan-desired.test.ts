// What members are made of when the spec cannot be followed as it stands, and what every server must be able to do.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { imageOf } from "../../api/etcd-cluster/etcd-cluster.ts";
import { assess } from "../assess/assess.ts";
import { settingsOf } from "../objects/settings.ts";
import { added, check, crashing, ended, going, gone, learner, three, voter, young } from "../testing/plan-table.ts";
import { type SampleWorld, sampleCluster, sampleClusterId, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { inWords } from "../testing/actions-in-words.ts";
import type { MemberPod } from "../observe/world.ts";
import { planCluster } from "./plan.ts";

const desired = (sample: SampleWorld) => assess(sampleWorld(sample), sampleNow).desired;
const running = (version: string, ...letters: string[]) =>
  letters.map((letter) => voter(letter, { version, pod: { version, image: `quay.io/coreos/etcd:v${version}` } }));

describe("the version of a new member", () => {
  const made = (sample: SampleWorld): string => {
    const { spec } = desired(sample).cluster;
    return `${spec.version} ${imageOf(spec)}`;
  };
  const table: [string, SampleWorld, string][] = [
    ["is the spec's", { members: three }, "3.6.16 quay.io/coreos/etcd:v3.6.16"],
    [
      "is the spec's when only the patch differs",
      { version: "3.6.16", members: running("3.6.11", "a", "b") },
      "3.6.16 quay.io/coreos/etcd:v3.6.16",
    ],
    [
      "is the others' when the spec asks for two minors more",
      { version: "3.7.3", members: running("3.5.10", "a", "b") },
      "3.5.10 quay.io/coreos/etcd:v3.5.10",
    ],
    [
      "is the others' when the spec asks for less, which would never start",
      { version: "3.5.35", members: running("3.6.16", "a", "b") },
      "3.6.16 quay.io/coreos/etcd:v3.6.16",
    ],
    [
      "comes with the image that the others have, not with the one that the spec gives for another version",
      { version: "3.7.3", spec: { image: "example.com/etcd:3.7.3" }, members: running("3.5.10", "a", "b") },
      "3.5.10 quay.io/coreos/etcd:v3.5.10",
    ],
    [
      "is the others' when the spec asks for the next minor: that is the roll's to begin",
      { version: "3.6.16", members: [...running("3.5.35", "a", "b"), gone("c")] },
      "3.5.35 quay.io/coreos/etcd:v3.5.35",
    ],
    [
      "is the spec's once a member runs the next minor",
      { version: "3.6.16", members: [...running("3.5.35", "a"), ...running("3.6.16", "b"), gone("c")] },
      "3.6.16 quay.io/coreos/etcd:v3.6.16",
    ],
    [
      "is the others' when the first that was changed does not come up",
      {
        version: "3.6.16",
        members: [
          ...running("3.6.15", "a", "b", "d"),
          voter("c", {
            silent: true,
            pod: {
              changedFrom: { version: "3.6.15", image: "i", restarts: 0 },
              state: { t: "starting", problem: "ErrImagePull" },
            },
          }),
          gone("e"),
        ],
      },
      "3.6.15 quay.io/coreos/etcd:v3.6.15",
    ],
    [
      "is the others' when the spec asks for a patch that no cluster is moved to",
      { version: "3.5.1", members: running("3.5.35", "a", "b") },
      "3.5.35 quay.io/coreos/etcd:v3.5.35",
    ],
    [
      "is the spec's at once where members are changed by deleting their pods",
      { version: "3.6.16", spec: { updateStrategy: "OnDelete" }, members: [...running("3.5.35", "a", "b"), gone("c")] },
      "3.6.16 quay.io/coreos/etcd:v3.6.16",
    ],
    [
      "comes with the image that the spec gives for it, whatever the others have",
      { spec: { image: "example.com/etcd:mine" }, members: running("3.6.16", "a", "b") },
      "3.6.16 example.com/etcd:mine",
    ],
    [
      "goes by what the others answer, not by what their pods were made for",
      { version: "3.7.3", members: [voter("a", { version: "3.5.10", pod: { version: "3.6.16" } })] },
      "3.5.10 quay.io/coreos/etcd:v3.5.10",
    ],
    [
      "goes by the pods while nobody answers",
      { etcd: "silent", version: "3.7.3", members: running("3.5.10", "a", "b") },
      "3.5.10 quay.io/coreos/etcd:v3.5.10",
    ],
    [
      "comes with the others' own image, also where their repository is no longer the spec's",
      {
        version: "3.7.3",
        members: [
          voter("a", { version: "3.5.10", pod: { version: "3.6.16", image: "example.com/etcd:another" } }),
          voter("b", { version: "3.5.10", pod: { version: "3.5.10", image: "" } }),
          voter("c", { version: "3.5.10", pod: { version: "3.5.10", image: "example.com/etcd:old" } }),
        ],
      },
      "3.5.10 example.com/etcd:old",
    ],
    [
      "is the spec's when the first member has never answered, whatever that one was made from",
      { unrecorded: true, etcd: "silent", version: "3.7.3", members: running("3.5.10", "a") },
      "3.7.3 quay.io/coreos/etcd:v3.7.3",
    ],
  ];
  for (const [what, sample, wanted] of table) test(what, () => assert.equal(made(sample), wanted));
});

describe("while the spec is wrong", () => {
  const valid = sampleCluster({
    spec: { etcd: { snapshotCount: 5000 }, pod: { nodeSelector: { disk: "fast" } } },
  }).spec;
  const pod = { madeFrom: settingsOf(valid) };
  const wrong: SampleWorld = {
    spec: { etcd: { extraArgs: ["--wrong"] }, TLS: { auto: true } },
    members: [voter("a", { pod }), voter("b", { pod }), gone("c")],
    change: { problems: ["--wrong is not a flag of etcd."] },
  };

  test("members are made from what the others were made from", () => {
    const { cluster, impossible, tls } = desired(wrong);
    assert.equal(impossible, undefined);
    assert.equal(settingsOf(cluster.spec), settingsOf(valid));
    assert.equal(cluster.spec.version, "3.6.16");
    assert.deepEqual([tls?.peer, tls?.client], ["plain", false]);
  });

  test("of settings that differ, those of the youngest pod are taken: they were right last", () => {
    const older = { madeFrom: settingsOf(sampleCluster({ spec: { etcd: { snapshotCount: 1000 } } }).spec) };
    const youngest = { ...pod, ...young };
    const members = [voter("a", { pod: older }), voter("b", { pod: youngest }), voter("c", { pod: older })];
    assert.equal(settingsOf(desired({ ...wrong, members }).cluster.spec), settingsOf(valid));
  });

  test("nothing is taken from the spec that is wrong, also where the others had no settings", () => {
    const bare = { madeFrom: settingsOf(sampleCluster({}).spec) };
    const { spec } = desired({ ...wrong, members: [voter("a", { pod: bare }), voter("b", { pod: bare })] }).cluster;
    assert.equal(settingsOf(spec), bare.madeFrom);
  });

  test("a size that is right is followed all the same, and one that is wrong is not", () => {
    assert.equal(desired({ ...wrong, size: 5 }).size, 5);
    assert.equal(desired({ ...wrong, size: 0, status: { size: 2, voters: ["a", "b", "c"] } }).size, 3);
  });

  check("healing goes on", [
    ["a lost member is removed", wrong, ["remove c"]],
    [
      "and another joins in its place",
      { ...wrong, members: [voter("a", { pod }), voter("b", { pod })] },
      ["add learner new1", "pod new1"],
    ],
    [
      "but nothing is begun from a spec that is wrong",
      { unrecorded: true, etcd: "nobody", change: { problems: ["Mend it."] } },
      [],
    ],
  ]);
});

describe("a first member that cannot start", () => {
  const { spec } = sampleCluster({ spec: { pod: { resources: { limits: { memory: "8Mi" } } } } });
  const pod = (has: string): Partial<MemberPod> => ({
    madeFrom: settingsOf(spec),
    resources: { limits: { memory: has }, requests: { memory: has } },
    ready: false,
    createdAt: sampleNow - 5000,
    state: { t: "running", restarts: 1, unheard: true },
  });
  const sample = (has: string, asked: object, more: Partial<MemberPod> = {}): SampleWorld => ({
    size: 1,
    unrecorded: true,
    etcd: "silent",
    spec: { pod: asked },
    members: [voter("a", { pod: { ...pod(has), ...more } })],
  });
  check("and whose settings were edited", [
    [
      "is given more memory where it is, while it runs",
      sample("8Mi", { resources: { limits: { memory: "256Mi" } } }),
      ["resize a"],
    ],
    [
      "is made again when it is killed all the time: a kubelet resizes what runs",
      sample("8Mi", { resources: { limits: { memory: "256Mi" } } }, crashing(5000)),
      ["delete a", "resize a"],
    ],
    [
      "stays when it has it, which is written down",
      sample("256Mi", { resources: { limits: { memory: "256Mi" } } }),
      ["relabel a"],
    ],
    [
      "is made again when the change cannot be made in place",
      sample("8Mi", { resources: { limits: { memory: "256Mi", cpu: "1" } } }),
      ["delete a"],
    ],
    [
      "is made again when more than resources differ",
      sample("256Mi", { resources: { limits: { memory: "256Mi" } }, nodeSelector: { disk: "fast" } }),
      ["delete a", "relabel a"],
    ],
  ]);
});

describe("resources that were changed", () => {
  const spec = { pod: { resources: { limits: { memory: "256Mi" } } } };
  const small = { resources: { limits: { memory: "8Mi" }, requests: { memory: "8Mi" } } };
  const right = { resources: { limits: { memory: "256Mi" }, requests: { memory: "256Mi" } } };
  const rest = [voter("b", { pod: right }), voter("c", { pod: right })];
  check("are given", [
    ["to a member where it is", { spec, members: [voter("a", { pod: small }), ...rest] }, ["resize a"]],
    [
      "not to one whose pod has ended",
      { spec, members: [voter("a", { silent: true, pod: { ...small, ...ended } }), ...rest] },
      ["remove a", "delete a"],
    ],
    [
      "not to one whose pod goes",
      { spec, leader: "b", members: [voter("a", { pod: { ...small, ...going } }), ...rest] },
      ["remove a"],
    ],
  ]);
});

describe("a server that was started without a limit for learners admits one", () => {
  const old = { maxLearners: undefined };
  check("so one joins at a time", [
    [
      "and the next only when it has its vote",
      { size: 5, members: [voter("a", { pod: old }), voter("b"), voter("c"), learner("d", { pod: young })] },
      ["promote d"],
    ],
    [
      "also where the others would admit more",
      { size: 3, members: [voter("a", { raftIndex: 9, pod: old })] },
      ["add learner new1", "pod new1"],
    ],
  ]);
});

test("a rule that is refused lets the next one speak, and one that waits is the last", () => {
  const sample: SampleWorld = { size: 5, members: [...three, learner("d", { pod: young })] };
  const { decisions } = planCluster(assess(sampleWorld(sample), sampleNow), () => 0.5);
  const [grows, promotes] = decisions.map(({ actions }) => inWords(actions));
  assert.deepEqual([grows, promotes], [["add learner new1", "pod new1"], ["promote d"]]);
  assert.deepEqual(decisions.at(-1)?.actions, []);
});

test("what is left when nobody can be added is to wait, and not for long", () => {
  const { decisions } = planCluster(assess(sampleWorld({ members: [voter("a"), voter("b")] }), sampleNow), () => 0.5);
  const because = "2 of 3 members are there, and none can be added now";
  assert.deepEqual(decisions.slice(1), [{ actions: [], because, requeueAfter: 500 }]);
});

test("a member that never ran and has no pod gets one before the next joins, though nothing else can be done", () => {
  const { decisions } = planCluster(
    assess(sampleWorld({ members: [voter("a"), voter("b"), added("c", { pod: undefined })] }), sampleNow),
  );
  assert.deepEqual(inWords(decisions[0].actions), ["pod c"]);
});

test("who wrote the raft log is written down with the id of a new cluster, and not with that of an older operator's", () => {
  const latch = (phase: string) =>
    planCluster(assess(sampleWorld({ unrecorded: true, members: three, status: { phase } }), sampleNow)).decisions[0]
      .actions[0];
  assert.deepEqual(latch("Creating"), { do: "recordClusterId", clusterId: sampleClusterId, logVersion: "3.6" });
  assert.deepEqual(latch("Running"), { do: "recordClusterId", clusterId: sampleClusterId });
});

test("a plan by which members join says how many there are", () => {
  const because = (sample: SampleWorld): string =>
    planCluster(assess(sampleWorld(sample), sampleNow)).decisions[0].because.replaceAll(/demo-[b-z2-9]{10}/g, "new");
  assert.equal(because({ members: [voter("a"), voter("b")] }), "new joins: 2 of 3 members are there");
  assert.equal(because({ members: [voter("a", { raftIndex: 9 })] }), "new, new join: 1 of 3 members are there");
});

describe("a plan that waits says what for:", () => {
  const table: [string, SampleWorld, string][] = [
    [
      "a quorum, by how many of how many answer",
      { etcd: "noQuorum", members: [voter("a"), gone("b"), gone("c")] },
      "quorum is lost: 1 of 3 voters answer and 2 are needed",
    ],
    [
      "members, by their state",
      { members: [voter("a"), voter("b"), voter("c", { silent: true })] },
      "waits for demo-c (away)",
    ],
    [
      "pods, by what keeps them from running",
      { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: crashing(1000) })] },
      "waits for demo-c (away: exit code 1)",
    ],
    [
      "a person, when all members are gone",
      { etcd: "nobody" },
      "all members are gone and their data with them: restore from a backup, or delete the cluster",
    ],
    ["nothing", { members: three }, "all 3 members are healthy voters"],
  ];
  for (const [what, sample, wanted] of table)
    test(what, () => {
      const [{ because }] = planCluster(assess(sampleWorld(sample), sampleNow)).decisions;
      assert.equal(because, wanted);
    });
});

test("members that join together have different names, whatever chance says", () => {
  const numbers = [...Array<number>(20).fill(0), ...Array<number>(10).fill(0.5)];
  const world = sampleWorld({ members: [voter("a", { raftIndex: 9 })] });
  const [{ actions }] = planCluster(assess(world, sampleNow), () => numbers.shift() ?? 0).decisions;
  assert.deepEqual(inWords(actions).slice(2), ["pod new1", "pod new2"]);
});
