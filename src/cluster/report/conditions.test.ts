import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClusterAction } from "../plan/actions.ts";
import { conclusionsOf } from "./conditions.ts";
import type { ActionObstacle, ClusterOutcome } from "../act/outcome.ts";
import { assess } from "../assess/assess.ts";
import type { MemberPod } from "../observe/world.ts";
import { settingsOf } from "../objects/settings.ts";
import {
  sampleCluster,
  sampleClusterId,
  sampleId,
  type SampleMember,
  sampleName,
  sampleNow,
  samplePod,
  sampleWorld,
  type SampleWorld,
} from "../testing/sample-world.ts";
import { judged } from "../testing/judged.ts";

const voter = (letter: string, differs: Partial<SampleMember> = {}): SampleMember => ({ letter, ...differs });
const three = [voter("a"), voter("b"), voter("c")];
const of = (version: string): Partial<SampleMember> => ({
  version,
  pod: { version, image: `quay.io/coreos/etcd:v${version}` },
});
const gone = { silent: true, pod: undefined } as const;
const did = (...actions: ClusterAction[]): ClusterOutcome => ({
  did: actions,
  decision: { actions, because: "a test" },
  obstacle: undefined,
  passed: [],
});
const done = did();
const replacement: ClusterAction = judged({
  do: "removeMember",
  id: sampleId("x"),
  member: sampleName("x"),
  because: "it cannot be dialled",
  cause: "unwanted",
  pod: { t: "none" },
});
const removal: ClusterAction = { ...replacement, cause: "lost" };
const refusal: ActionObstacle = { t: "refused", at: { do: "createPod", member: sampleName("d") }, because: "quota" };

function concluded(sample: SampleWorld, outcome: ClusterOutcome = done): Record<string, string> {
  const conclusions = conclusionsOf(assess(sampleWorld(sample), sampleNow), outcome);
  return Object.fromEntries(conclusions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

const unschedulable: Partial<MemberPod> = {
  state: { t: "pending", problem: "Unschedulable: 0/3 nodes", advice: "Give a node what is asked for." },
};
const neverReady: Partial<MemberPod> = { ready: false };
const withoutData: Partial<MemberPod> = {
  ready: false,
  state: {
    t: "crashing",
    since: sampleNow - 1000,
    exitedAt: sampleNow - 1,
    restarts: 1,
    problem: "Error: etcd ended",
    withoutData: true,
  },
};
const changedFrom = { version: "3.6.15", image: "i", restarts: 0 };
/** Made from other settings, which only another pod can have. */
const outdated = { madeFrom: settingsOf(sampleCluster({ spec: { etcd: { snapshotCount: 7 } } }).spec) };
const available = "True Cluster available";
const wasReady = {
  type: "Ready",
  status: "True",
  reason: "AllMembersReady",
  message: "",
  lastTransitionTime: "2026-01-31T11:00:00Z",
};
const table: [string, SampleWorld, Record<string, string>, ClusterOutcome?][] = [
  [
    "three healthy voters of three",
    { members: three },
    {
      Available: available,
      Scaling: "False Size reached",
      Recovering: "False All members healthy",
      Ready: "True AllMembersReady",
    },
  ],
  [
    "three healthy voters, and no kubelet has found one ready",
    { members: three.map(({ letter }) => voter(letter, { pod: { ready: false } })) },
    { Available: available, Ready: "False ServiceNotReady", Reconciling: "True ServiceNotReady" },
  ],
  [
    "the only pod that is ready is not selected by the Service",
    {
      members: three.map(({ letter }, at) => voter(letter, { pod: at === 0 ? { labelled: false } : { ready: false } })),
    },
    { Available: available, Ready: "False ServiceNotReady" },
  ],
  [
    "kubelets find nobody ready in a cluster that was Ready and serves",
    {
      members: three.map(({ letter }) => voter(letter, { pod: { ready: false } })),
      status: { conditions: [wasReady] },
    },
    { Available: available, Ready: "True AllMembersReady" },
  ],
  [
    "nobody has ever answered",
    { etcd: "nobody", unrecorded: true },
    { Available: "False Creating", Scaling: "True Scaling up", Recovering: "False Creating", Ready: "False Creating" },
  ],
  [
    "the first member cannot start",
    {
      etcd: "nobody",
      unrecorded: true,
      members: [voter("a", { pod: { state: { t: "starting", problem: "ErrImagePull: not found" } } })],
    },
    { Available: "False Creating", Ready: "False MemberCannotStart" },
  ],
  [
    "the first member is ready for its kubelet and silent for the operator",
    { etcd: "silent", unrecorded: true, members: [voter("a")] },
    { Available: "False Creating", Ready: "False MembersUnreachable" },
  ],
  [
    "the first member runs and does not serve",
    { etcd: "silent", unrecorded: true, members: [voter("a", { pod: neverReady })] },
    { Available: "False Creating", Ready: "False MemberCannotStart" },
  ],
  [
    "the first member has not had the time to serve",
    {
      etcd: "silent",
      unrecorded: true,
      members: [voter("a", { pod: { ...neverReady, createdAt: sampleNow - 60_000 } })],
    },
    { Available: "False Creating", Ready: "False Creating" },
  ],
  [
    "the first member served before, and does not for the moment",
    { etcd: "silent", unrecorded: true, members: [voter("a", { pod: { ...neverReady, readyOnce: true } })] },
    { Available: "False Creating", Ready: "False Creating" },
  ],
  [
    "a new member runs and never joins",
    { members: [voter("a"), voter("b"), voter("c", { learner: true, unnamed: true, pod: neverReady })] },
    { Available: available, Scaling: "True Scaling up", Ready: "False MemberCannotStart" },
  ],
  [
    "a member votes and does not answer yet",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: { ...neverReady, createdAt: sampleNow } })] },
    { Available: available, Recovering: "False All members healthy", Ready: "False Scaling" },
  ],
  [
    "a member that served is frozen",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: { ...neverReady, readyOnce: true } })] },
    { Available: available, Ready: "False MembersUnhealthy" },
  ],
  [
    "a new member cannot start",
    { members: [voter("a"), voter("b"), voter("c", { learner: true, unnamed: true, pod: unschedulable })] },
    { Available: available, Scaling: "True Scaling up", Ready: "False MemberCannotStart" },
  ],
  [
    "one that could not start is on its way out",
    {
      members: [
        voter("a"),
        voter("b"),
        voter("c", { learner: true, unnamed: true, pod: { ...unschedulable, terminating: true } }),
      ],
    },
    { Ready: "False Scaling" },
  ],
  [
    "all pods answer as another cluster than the status says",
    { etcd: "noQuorum", strangers: ["a", "b"] },
    { Available: "False ForeignCluster", Recovering: "False ForeignCluster", Ready: "False ForeignCluster" },
  ],
  [
    "a learner is on its way",
    { members: [voter("a"), voter("b"), voter("c", { learner: true })] },
    { Available: available, Scaling: "True Scaling up", Ready: "False Scaling" },
  ],
  ["more members than wanted", { size: 1, members: three }, { Scaling: "True Scaling down", Ready: "False Scaling" }],
  [
    "one of three is lost",
    { members: [voter("a"), voter("b"), voter("c", gone)] },
    { Available: available, Recovering: "True Members lost", Ready: "False MembersUnhealthy" },
  ],
  [
    "one that served to its last moment was removed to be replaced",
    { members: three },
    { Recovering: "True Members lost", Ready: "False MembersLeaving" },
    did(removal),
  ],
  [
    "one serves while its pod is on its way out",
    { members: [voter("a"), voter("b"), voter("c", { pod: { terminating: true } })] },
    { Available: available, Ready: "False MembersLeaving" },
  ],
  [
    "one serves on a claim that is being deleted",
    { members: [voter("a"), voter("b"), voter("c", { claim: { terminating: true } })] },
    { Available: available, Recovering: "False All members healthy", Ready: "False VolumesDoomed" },
  ],
  [
    "one serves on a claim that is being deleted, and another has joined to take its place",
    { members: [voter("a"), voter("b"), voter("c", { claim: { terminating: true } }), voter("d")] },
    { Scaling: "False Size reached", Ready: "False VolumesDoomed" },
  ],
  [
    "too few answer, and those that do not run on claims that are being deleted",
    {
      etcd: "noQuorum",
      members: ["a", "b", "c"].map((l) => voter(l, { silent: true, claim: { terminating: true } })),
    },
    { Ready: "False QuorumLost" },
  ],
  [
    "one of those too many was removed",
    { size: 1, members: three },
    { Recovering: "False All members healthy" },
    did(removal),
  ],
  [
    "enough answer and have no leader",
    { etcd: "noQuorum", members: three },
    { Available: "False Electing", Ready: "False Electing", Recovering: "False All members healthy" },
  ],
  [
    "the leader is gone and the others have none yet",
    { etcd: "noQuorum", members: [voter("a"), voter("b"), voter("c", gone)] },
    { Available: "False Electing", Ready: "False Electing", Recovering: "True Members lost" },
  ],
  [
    "a voter of etcd before 3.4 joins",
    { etcd: "noQuorum", version: "3.2.13", members: [voter("a"), voter("b", { unnamed: true })] },
    { Available: "False Joining", Ready: "False Joining", Recovering: "False All members healthy" },
  ],
  [
    "too few answer, and all pods are there",
    { etcd: "noQuorum", members: [voter("a"), voter("b", { silent: true }), voter("c", { silent: true })] },
    { Available: "False QuorumLost", Recovering: "True Disaster recovery", Ready: "False QuorumLost" },
  ],
  [
    "too few pods are left",
    { etcd: "noQuorum", members: [voter("a"), voter("b", gone), voter("c", gone)] },
    { Available: "False DataLost", Ready: "False DataLost" },
  ],
  ...(
    [
      ["has ended", { state: { t: "ended", problem: "Evicted" } }],
      ["is being deleted", { terminating: true }],
      ["is lost with its node", { node: { t: "gone", name: "n" } }],
    ] as const
  ).map(([how, pod]): [string, SampleWorld, Record<string, string>] => [
    `one of too few pods ${how}`,
    { etcd: "noQuorum", members: [voter("a"), voter("b", { silent: true, pod }), voter("c", gone)] },
    { Available: "False DataLost" },
  ]),
  [
    "too few answer, and one that never ran does not make them enough",
    {
      etcd: "noQuorum",
      version: "3.2.13",
      members: [voter("a", { silent: true }), voter("b", { silent: true }), voter("c", { unnamed: true })],
    },
    { Available: "False QuorumLost" },
  ],
  [
    "one pod is left of as many as an older release counted",
    { etcd: "silent", status: { size: 3 }, members: [voter("a")] },
    { Available: "False DataLost" },
  ],
  ["all pods are gone", { etcd: "nobody", status: { size: 3 } }, { Available: "False DataLost" }],
  [
    "all pods start again",
    { etcd: "silent", status: { size: 3 }, members: three.map(({ letter }) => voter(letter, { silent: true })) },
    { Available: "False QuorumLost" },
  ],
  [
    "the only voter is gone and two learners are left, which never had a vote",
    {
      etcd: "noQuorum",
      status: { size: 3, voters: ["demo-a"] },
      change: {
        pods: [samplePod("demo-b", {}), samplePod("demo-c", {})],
        etcd: {
          t: "noQuorum",
          clusterId: sampleClusterId,
          members: [],
          answers: new Map(),
          strangers: [],
          wiped: new Set(),
          rivals: [],
        },
      },
    },
    { Available: "False DataLost", Ready: "False DataLost" },
  ],
  [
    "one of three voters is gone, and the others, which were never ready, do not answer yet",
    {
      etcd: "silent",
      status: { size: 3, voters: ["demo-a", "demo-b", "demo-c"] },
      members: [voter("b", { pod: neverReady }), voter("c", { pod: neverReady })],
    },
    { Available: "False QuorumLost" },
  ],
  [
    "the only voter has lost its data and cannot start",
    {
      etcd: "silent",
      size: 1,
      status: { size: 1, voters: ["demo-a"] },
      members: [voter("a", { pod: withoutData })],
    },
    { Available: "False DataLost" },
  ],
  [
    "a member came back without its data",
    { members: [voter("a"), voter("b"), voter("c", { wiped: true })] },
    { Available: available, Recovering: "True Members lost", Ready: "False MembersUnhealthy" },
  ],
  [
    "a member came back without its data and has yet to be ready",
    { members: [voter("a"), voter("b"), voter("c", { wiped: true, pod: neverReady })] },
    { Recovering: "True Members lost", Ready: "False MembersUnhealthy" },
  ],
  [
    "members follow different leaders",
    { members: three, rivals: ["a", "b"] },
    { Available: available, Ready: "False LeadersDisagree" },
  ],
  [
    "all is well but for a Service that is refused",
    { members: three },
    { Available: available, Ready: "False Refused" },
    { ...done, passed: [{ t: "refused", at: { do: "applyService", service: "client" }, because: "quota" }] },
  ],
  [
    "a Service is refused and a member is lost, which matters more",
    { members: [voter("a"), voter("b"), voter("c", gone)] },
    { Ready: "False MembersUnhealthy" },
    { ...done, passed: [{ t: "refused", at: { do: "applyService", service: "client" }, because: "quota" }] },
  ],
  ["a pod serves another cluster", { members: three, strangers: ["z"] }, { Ready: "False ForeignCluster" }],
  [
    "an image holds another version than it should",
    { members: [voter("a"), voter("b"), voter("c", { version: "3.6.15" })] },
    { Ready: "False UpdateStopped" },
  ],
  [
    "the version that is asked for cannot be reached from the one that runs",
    { version: "3.7.3", members: three.map((member) => ({ ...member, ...of("3.5.35") })) },
    { Ready: "False VersionDiffers", Upgrading: "False Not upgrading" },
  ],
  [
    "members are on their way to another version",
    { members: [voter("a"), voter("b", of("3.5.35")), voter("c", of("3.5.35"))] },
    { Ready: "False Updating", Upgrading: "True Cluster upgrading", Scaling: "False Size reached" },
  ],
  [
    "a member is restarted in another version",
    {
      members: [
        voter("a", of("3.6.16")),
        voter("b", of("3.6.15")),
        voter("c", {
          silent: true,
          pod: { changedFrom: { version: "3.6.15", image: "i", restarts: 0 }, state: { t: "starting" } },
        }),
      ],
    },
    { Ready: "False Updating", Recovering: "False All members healthy", Upgrading: "True Cluster upgrading" },
  ],
  [
    "all members have yet to be changed",
    { members: three.map((member) => ({ ...member, ...of("3.6.15") })) },
    { Ready: "False Updating", Upgrading: "True Cluster upgrading" },
  ],
  [
    "all members run what is asked for",
    { members: three },
    {
      Ready: "True AllMembersReady",
      Reconciling: "False AllMembersReady",
      Stalled: "False AllMembersReady",
      Upgrading: "False Not upgrading",
    },
  ],
  [
    "another version is asked for by a spec that is wrong",
    { members: three.map((member) => ({ ...member, ...of("3.6.15") })), change: { problems: ["Mend it."] } },
    { Upgrading: "False Not upgrading" },
  ],
  [
    "members are to be replaced by ones with other settings",
    { members: three.map(({ letter }) => voter(letter, { pod: outdated })) },
    { Ready: "False Updating", Upgrading: "False Not upgrading", Scaling: "False Size reached" },
  ],
  [
    "a member that was changed serves, which has yet to be confirmed",
    { members: [voter("a"), voter("b"), voter("c", { pod: { changedFrom } })] },
    { Ready: "False Updating", Reconciling: "True Updating", Stalled: "False Updating" },
  ],
  [
    "members wait to be deleted",
    { spec: { updateStrategy: "OnDelete" }, members: three.map((member) => ({ ...member, ...of("3.6.15") })) },
    { Ready: "False UpdateOnDelete" },
  ],
  [
    "one of the members has found other data than its own",
    { members: [voter("a"), voter("b"), voter("c", { alarm: "corrupt" })] },
    { Available: available, Ready: "False Corrupt" },
  ],
  [
    "the database is full",
    { members: [voter("a", { alarm: "noSpace" }), voter("b"), voter("c")] },
    { Available: available, Ready: "False NoSpace" },
  ],
  [
    "the spec is wrong",
    { members: three, change: { problems: ["Mend it."] } },
    {
      Available: available,
      Ready: "False InvalidSpec",
      Reconciling: "False InvalidSpec",
      Stalled: "True InvalidSpec",
    },
  ],
  [
    "the API server refuses a pod in the place of one that is lost",
    { members: [voter("a"), voter("b"), voter("c", gone)] },
    { Ready: "False Refused" },
    { ...done, obstacle: refusal },
  ],
  ["the API server refuses a pod", { members: three }, { Ready: "False Refused" }, { ...done, obstacle: refusal }],
];
for (const [what, sample, wanted, outcome] of table) {
  test(`the conditions are true when ${what}`, () => {
    const said = concluded(sample, outcome);
    assert.deepEqual({ ...said, ...wanted }, said);
  });
}

test("a voter that joins a lone one is no lost quorum and no lost data", () => {
  const joining = { etcd: "noQuorum", members: [voter("a"), voter("b", { unnamed: true, pod: undefined })] } as const;
  assert.equal(assess(sampleWorld(joining), sampleNow).health.t, "joining");
});

test("a member that is replaced by another was not lost", () => {
  const members = [voter("a"), voter("b")];
  assert.equal(concluded({ members }, did(replacement))["Recovering"], "False All members healthy");
  assert.equal(concluded({ members }, did(removal))["Recovering"], "True Members lost");
});

test("a recovery lasts until all are back, though the lost ones are off the list by then", () => {
  const lastTransitionTime = "2026-01-31T11:59:00Z";
  const conditions = [
    { type: "Recovering", status: "True", reason: "Members lost", message: "Not healthy: demo-c.", lastTransitionTime },
  ];
  const members = [voter("a"), voter("b"), voter("d", { learner: true })];
  assert.equal(concluded({ members, status: { conditions } })["Recovering"], "True Members lost");
  assert.equal(concluded({ members: three, status: { conditions } })["Recovering"], "False All members healthy");
});

test("what keeps a pod from running is reported in the words of Kubernetes", () => {
  const stuck = voter("c", {
    silent: true,
    pod: { state: { t: "pending", problem: "Unschedulable: 0/3 nodes are available", advice: "Change it." } },
  });
  const world = sampleWorld({ members: [voter("a"), voter("b"), stuck] });
  const ready = conclusionsOf(assess(world, sampleNow), done).find(({ type }) => type === "Ready");
  assert.match(ready?.message ?? "", /Pod demo-c: Unschedulable: 0\/3 nodes are available\. Change it\.$/);
});

describe("what is said of members on volumes that go with their pods:", () => {
  const doomed = (spec: object): string | undefined => {
    const members = [voter("a"), voter("b"), voter("c", { claim: { terminating: true } })];
    const conclusions = conclusionsOf(assess(sampleWorld({ spec, members }), sampleNow), done);
    return conclusions.find(({ type }) => type === "Ready")?.message;
  };
  const what =
    "These members serve on volumes that last only as long as their pods: demo-c (the claim of its volume is being deleted).";
  test("that others take their places", () => {
    const next =
      "Each is replaced by a member on a new volume, which joins before the old one goes: leave their pods alone.";
    assert.equal(doomed({}), `${what} ${next}`);
  });
  test("that nothing is done while the cluster is paused", () => {
    const next = "The cluster is paused, so they are not replaced: keep their pods, and set spec.paused to false.";
    assert.equal(doomed({ paused: true }), `${what} ${next}`);
  });
});

describe("the progress of a change is told:", () => {
  const messageOf = (type: string, sample: SampleWorld): string | undefined =>
    conclusionsOf(assess(sampleWorld(sample), sampleNow), done).find((one) => one.type === type)?.message;
  const old = (version: string) => three.map((member) => ({ ...member, ...of(version) }));
  const noneOfThree = "0 of 3 members have the version and settings of the spec";
  const next = "demo-b (it runs 3.6.15), demo-c (it runs 3.6.15), demo-a (it runs 3.6.15)";
  const table: [string, SampleWorld, string][] = [
    ["who is next", { members: old("3.6.15") }, `upgrading to 3.6.16: ${noneOfThree}; next: ${next}.`],
    [
      "by which versions it goes",
      { spec: { upgrade: { path: "Automatic" } }, members: old("3.5.21") },
      `upgrading to 3.6.16 by way of 3.5.35, then 3.6.16: ${noneOfThree}; next: ${next.replaceAll("3.6.15", "3.5.21")}.`,
    ],
    [
      "that it is paused",
      { spec: { paused: true }, members: old("3.6.15") },
      `upgrading to 3.6.16: ${noneOfThree}. The cluster is paused, so nothing is done about it.`,
    ],
    [
      "what a person has to do",
      { spec: { updateStrategy: "OnDelete" }, members: old("3.6.15") },
      `upgrading to 3.6.16: ${noneOfThree}. spec.updateStrategy is OnDelete: delete these pods one after another: ${next}.`,
    ],
    [
      "what it waits for",
      { members: [...old("3.6.15").slice(1), voter("d", { ...of("3.6.15"), silent: true })] },
      `upgrading to 3.6.16: ${noneOfThree}; it waits for demo-d to be healthy.`,
    ],
    [
      "what etcd is brought to first",
      { version: "3.6.16", members: three.map(({ letter }) => voter(letter, { ...of("3.7.3"), storage: "3.7.0" })) },
      `upgrading to 3.6.16 by way of 3.7.3, then 3.6.16: ${noneOfThree}; etcd prepares its data for 3.6.`,
    ],
    [
      "that nobody is next",
      { etcd: "noQuorum", members: three.map(({ letter }) => voter(letter, { version: "3.6.15", pod: undefined })) },
      `upgrading to 3.6.16: ${noneOfThree}.`,
    ],
  ];
  for (const [what, sample, wanted] of table) test(what, () => assert.equal(messageOf("Upgrading", sample), wanted));

  test("a cluster that is whole says which known bug its version has", () => {
    const members = ["a", "b", "c"].map((name) => voter(name, { says: { version: "3.6.4" } }));
    assert.equal(
      messageOf("Ready", { version: "3.6.4", members }),
      "All 3 members are healthy voters. etcd 3.6.4 has a known bug: a defragmentation while a member receives a snapshot can corrupt its data. Set spec.version to 3.6.16.",
    );
  });

  test("that it stopped, also where the cluster does not serve", () => {
    const broken = voter("c", {
      silent: true,
      pod: { changedFrom, state: { t: "crashing", since: 0, exitedAt: 0, restarts: 5, problem: "exit code 1" } },
    });
    const stopped = /The update stopped: demo-c does not come up in 3\.6\.16 \(exit code 1\)/;
    assert.match(messageOf("Ready", { etcd: "noQuorum", members: [voter("a"), voter("b"), broken] }) ?? "", stopped);
    assert.doesNotMatch(messageOf("Ready", { etcd: "noQuorum", members: three }) ?? "", /stopped/);
    assert.doesNotMatch(messageOf("Ready", { members: [voter("a"), voter("b"), broken] }) ?? "", /The update stopped/);
  });

  test("a member that joins is not part of the size yet", () => {
    const learner = voter("c", { learner: true });
    const one = messageOf("Scaling", { members: [voter("a"), voter("b"), learner] });
    assert.equal(one, "Current cluster size: 2, desired cluster size: 3");
    const fewer = messageOf("Scaling", { size: 1, members: three });
    assert.equal(fewer, "Current cluster size: 3, desired cluster size: 1");
  });
});
