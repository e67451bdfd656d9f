// The states of an EtcdCluster: one for each reason of Ready, and those that come with an edit, a pause or a deletion.
import type { ClusterOutcome } from "../../../src/cluster/act/outcome.ts";
import { assess } from "../../../src/cluster/assess/assess.ts";
import type { AccessTrouble } from "../../../src/cluster/observe/world.ts";
import { memberName } from "../../../src/cluster/objects/names.ts";
import { plainText } from "../../../src/cluster/objects/tls.ts";
import { statusOf } from "../../../src/cluster/report/status.ts";
import { gone, learner, three, voter } from "../../../src/cluster/testing/plan-table.ts";
import {
  freshClaim,
  type SampleWorld,
  sampleClaim,
  sampleNow,
  sampleWorld,
} from "../../../src/cluster/testing/sample-world.ts";
import { anchorsIn, bundleFingerprint } from "../../../src/tls/ca-bundle.ts";
import { makeAuthority, makeLeaf } from "../../../src/tls/make.ts";
import { writeBundle } from "../../../src/tls/pem.ts";
import { deletionTimestamp, type Expected, objectOf, type State } from "./state.ts";

const done: ClusterOutcome = {
  did: [],
  decision: { actions: [], because: "a test" },
  obstacle: undefined,
  passed: [],
};
const refused: ClusterOutcome = {
  ...done,
  obstacle: { t: "refused", at: { do: "createPod", member: memberName("demo-d") }, because: "quota" },
};

const older = three.map(({ letter }) => voter(letter, { version: "3.6.15", pod: { version: "3.6.15" } }));
const silent = (letter: string) => voter(letter, { silent: true });
const nobody = { etcd: "nobody", unrecorded: true } as const;
const unschedulable = { state: { t: "pending", problem: "Unschedulable: 0/3 nodes" } } as const;
const restore = (phase: string) => ({ restore: { name: "again", uid: "r2", phase } });
const volumes = { pod: { persistentVolumeClaimSpec: { resources: { requests: { storage: "4Gi" } } } } };
const left = [sampleClaim("demo-x", { clusterUid: "old" }), freshClaim("demo-y", { clusterUid: "older" })];
const pods = ["demo-a", "demo-b", "demo-c"].map(memberName);
const accessDenied = (trouble: AccessTrouble): SampleWorld => ({
  members: three,
  change: { etcd: { t: "accessDenied", trouble, refusing: pods, serving: pods } },
});

/** Members that have read another CA than that of the certificates in use. */
async function apart(): Promise<SampleWorld> {
  const [read, used] = await Promise.all([makeAuthority("read", sampleNow), makeAuthority("used", sampleNow)]);
  const names = ["*.demo.shop.svc", "*.demo.shop.svc.cluster.local"];
  const bundle = { ca: used.cert, pair: await makeLeaf(used, { commonName: "p", names, use: "both" }, sampleNow) };
  const trust = { trusts: { peer: bundleFingerprint(read.cert) }, anchors: { peer: anchorsIn(read.cert) } };
  const pod = { tls: { ...plainText, peer: "tls", ...trust } } as const;
  const given = { peer: { t: "there", name: "peers", data: writeBundle("peer", bundle) } } as const;
  return {
    spec: { TLS: { static: { member: { peerSecret: "peers" } } } },
    members: three.map(({ letter }) => voter(letter, { pod })),
    change: { tls: { ...sampleWorld({}).tls, given, kept: { peer: { bundle, graceFrom: 0 } } } },
  };
}

const lost: SampleWorld = { etcd: "noQuorum", members: [voter("a"), gone("b"), gone("c")] };

const goesOn: Expected = ["InProgress", "InProgress", "Progressing"];
/** A program that waits for a deployment fails at once; Helm, which has no expressions, waits longer. */
const shouldBeSeen: Expected = ["InProgress", "Failed", "Degraded"];
const stalled: Expected = ["Failed", "Failed", "Degraded"];

type Row = readonly [what: string, reason: string, world: SampleWorld, expected: Expected, outcome?: ClusterOutcome];

const rows: readonly Row[] = [
  ["that is made", "Creating", nobody, goesOn],
  ["whose members go for a restore", "Restoring", { status: restore("Stopping"), members: three }, goesOn],
  ["that is made from a backup", "Restoring", { ...nobody, status: restore("Seeding") }, goesOn],
  ["without a leader", "Electing", { etcd: "noQuorum", members: three }, goesOn],
  [
    "that a voter joins",
    "Joining",
    { etcd: "noQuorum", version: "3.2.13", members: [voter("a"), voter("b", { unnamed: true })] },
    goesOn,
  ],
  ["that grows", "Scaling", { members: [voter("a"), voter("b"), learner("c")] }, goesOn],
  ["that is upgraded", "Updating", { members: older }, goesOn],
  [
    "that no kubelet has found ready yet",
    "ServiceNotReady",
    { members: three.map(({ letter }) => voter(letter, { pod: { ready: false } })) },
    goesOn,
  ],
  ["that heals", "MembersUnhealthy", { members: [voter("a"), voter("b"), gone("c")] }, goesOn],
  [
    "with a member whose pod is deleted",
    "MembersLeaving",
    { members: [voter("a"), voter("b"), voter("c", { pod: { terminating: true } })] },
    goesOn,
  ],
  [
    "whose claims are deleted while it serves",
    "VolumesDoomed",
    { spec: volumes, members: three.map(({ letter }) => voter(letter, { claim: { terminating: true } })) },
    goesOn,
  ],
  ["that cannot be dialled", "MembersUnreachable", { ...nobody, etcd: "silent", members: [voter("a")] }, goesOn],
  [
    "whose pods a person deletes",
    "UpdateOnDelete",
    { spec: { updateStrategy: "OnDelete" }, members: older },
    ["InProgress", "Current", "Suspended"],
  ],
  ["beyond a quota", "Refused", { members: three }, shouldBeSeen, refused],
  [
    "whose first pod finds no node",
    "MemberCannotStart",
    { ...nobody, members: [voter("a", { pod: unschedulable })] },
    shouldBeSeen,
  ],
  [
    "without the Secret that it names",
    "CertificatesInvalid",
    {
      ...nobody,
      spec: { TLS: { static: { member: { peerSecret: "peers" } } } },
      change: { tls: { ...sampleWorld(nobody).tls, given: { peer: { t: "absent", name: "peers" } } } },
    },
    shouldBeSeen,
  ],
  ["whose members are kept apart by certificates", "MembersApart", await apart(), shouldBeSeen],
  [
    "whose image holds another version",
    "UpdateStopped",
    { members: [voter("a"), voter("b"), voter("c", { version: "3.6.15" })] },
    shouldBeSeen,
  ],
  [
    "without a quorum",
    "QuorumLost",
    { etcd: "noQuorum", members: [voter("a"), silent("b"), silent("c")] },
    shouldBeSeen,
  ],
  ["with two leaders", "LeadersDisagree", { members: three, rivals: ["a", "b"] }, shouldBeSeen],
  ["with a wrong spec", "InvalidSpec", { members: three, change: { problems: ["Mend it."] } }, stalled],
  [
    "that finds copies of the volumes of another one",
    "VolumesForeign",
    { ...nobody, spec: volumes, change: { foreignClaims: [{ name: "demo-a", uid: "a", of: "shop/orders" }] } },
    stalled,
  ],
  [
    "that finds volumes of an earlier one",
    "VolumesLeft",
    { ...nobody, spec: volumes, change: { leftClaims: left } },
    stalled,
  ],
  [
    "that cannot go to the version",
    "VersionDiffers",
    { version: "3.7.3", members: three.map(({ letter }) => voter(letter, { version: "3.5.35" })) },
    stalled,
  ],
  ["whose data is lost", "DataLost", lost, stalled],
  ["with a pod of another one", "ForeignCluster", { members: three, strangers: ["z"] }, stalled],
  ["whose members differ", "Corrupt", { members: [voter("a"), voter("b"), voter("c", { alarm: "corrupt" })] }, stalled],
  ["that is full", "NoSpace", { members: [voter("a", { alarm: "noSpace" }), voter("b"), voter("c")] }, stalled],
  ["that asks for a login", "AuthRequired", accessDenied({ t: "noLogin" }), stalled],
  ["that refuses the login", "LoginRefused", accessDenied({ t: "wrongPassword", secret: "login" }), stalled],
  ["whose members all serve", "AllMembersReady", { members: three }, ["Current", "Current", "Healthy"]],
  [
    "that is paused and whole",
    "AllMembersReady",
    { spec: { paused: true }, members: three },
    ["Current", "Current", "Suspended"],
  ],
  [
    "that is paused with a member less",
    "Scaling",
    { spec: { paused: true }, members: [voter("a"), voter("b")] },
    ["InProgress", "Current", "Suspended"],
  ],
  ["that is paused and whose data is lost", "DataLost", { ...lost, spec: { paused: true } }, stalled],
];

function stateOf([what, reason, sample, expected, outcome = done]: Row): State & { readonly reason: string } {
  const world = sampleWorld(sample);
  const status = statusOf(assess(world, sampleNow), outcome);
  return { what, reason, expected, object: objectOf("EtcdCluster", { ...world.cluster, status }) };
}

/** With the reason that its Ready has to have. */
export const reported: readonly (State & { readonly reason: string })[] = rows.map(stateOf);

const whole = reported.filter(({ reason }) => reason === "AllMembersReady").slice(0, 1);

export const clusterStates: readonly State[] = [
  {
    what: "that no operator has seen",
    object: objectOf("EtcdCluster", {
      metadata: { name: "demo", namespace: "shop", generation: 1 },
      spec: { size: 3 },
      status: { observedGeneration: -1 },
    }),
    expected: goesOn,
  },
  ...reported,
  ...whole.map(
    ({ object }): State => ({
      what: "that was whole before it was edited",
      object: { ...object, metadata: { ...object.metadata, generation: 2 } },
      expected: goesOn,
    }),
  ),
  ...whole.map(
    ({ object }): State => ({
      what: "that is whole and being deleted",
      object: { ...object, metadata: { ...object.metadata, deletionTimestamp } },
      expected: ["Terminating", "InProgress", "Progressing"],
    }),
  ),
];
