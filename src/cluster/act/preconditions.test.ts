// The column of the action table that keeps old views from destroying anything: each action that could has live checks, and
// where the API server has another world than was read, nothing is written.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { PersistentVolumeClaim, Pod, Secret } from "../../kube/objects/kinds.ts";
import type { Key, Kind, KubeObject } from "../../kube/objects/objects.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import { assess } from "../assess/assess.ts";
import { claimLabel, clusterIdAnnotation, clusterUidAnnotation } from "../objects/claims.ts";
import type { ClusterAction, ActionOf } from "../plan/actions.ts";
import { rotateCaAnnotation } from "../objects/tls.ts";
import {
  otherClusterId,
  sampleClaim,
  sampleCluster,
  sampleClusterId,
  sampleId,
  sampleName,
  sampleNow,
  sampleWorld,
} from "../testing/sample-world.ts";
import { carryOut, requirementsOf } from "./actions.ts";
import { executionOf, forgetReads } from "./execution.ts";
import { confirm, type Precondition } from "./preconditions.ts";
import { NotYet, Refused } from "../../controllers/obstacle.ts";
import { judged } from "../testing/judged.ts";

const [member, because] = [sampleName("a"), "a test"];
const [podUid, claimUid] = ["uid-of-demo-a", "uid-of-claim-demo-a"];
const release = { version: "3.6.16", image: "etcd:v3.6.16" };
const trust = { trusts: {}, presents: {}, anchors: {} };
const pod = { t: "uid", uid: podUid } as const;

/** One of each. */
const samples: { readonly [D in ClusterAction["do"]]: ActionOf<D> } = {
  applyService: { do: "applyService", service: "peer" },
  applyBudget: { do: "applyBudget", minAvailable: 2 },
  labelPod: { do: "labelPod", member, uid: podUid },
  guardPod: { do: "guardPod", member, uid: podUid },
  makeCertificates: { do: "makeCertificates", authority: "peer-ca", what: "authority", because },
  writeCertificate: { do: "writeCertificate", use: "peer", because },
  noteTrust: { do: "noteTrust", member, uid: podUid, tls: trust },
  startAgain: judged({ do: "startAgain", member, uid: podUid, tls: trust, because }),
  renewFiles: { do: "renewFiles", member, uid: podUid, leaves: "" },
  markServing: { do: "markServing", member, uid: podUid },
  relabelPod: { do: "relabelPod", member, uid: podUid, change: { labels: {}, annotations: {} } },
  createImageCheck: { do: "createImageCheck", node: "node-1", image: release.image },
  readImageCheck: { do: "readImageCheck", name: "demo-check", uid: podUid },
  deleteImageCheck: { do: "deleteImageCheck", name: "demo-check", uid: podUid },
  changeImage: judged({
    do: "changeImage",
    member,
    uid: podUid,
    from: { ...release, restarts: 0 },
    to: release,
    afterComparing: false,
  }),
  confirmChange: { do: "confirmChange", member, uid: podUid, from: release, to: release },
  enableDowngrade: { do: "enableDowngrade", to: "3.5.0", because },
  cancelDowngrade: { do: "cancelDowngrade", because },
  disarmNoSpace: { do: "disarmNoSpace", id: sampleId("a") },
  recordLogVersion: { do: "recordLogVersion", version: "3.6" },
  resizePod: { do: "resizePod", member, uid: podUid },
  createSeed: { do: "createSeed", member },
  nameFirstMembers: { do: "nameFirstMembers", count: 3 },
  createFirstMembers: { do: "createFirstMembers", members: [member] },
  startFirstMembers: { do: "startFirstMembers", pods: [{ name: member, uid: podUid }] },
  beginRestore: { do: "beginRestore", name: "again", uid: "r2" },
  beginSeed: { do: "beginSeed", name: "again", uid: "r2" },
  recordClusterId: { do: "recordClusterId", clusterId: sampleClusterId },
  addMember: { do: "addMember", member, as: "learner" },
  createPod: { do: "createPod", member },
  recreatePod: { do: "recreatePod", member, uid: claimUid, release },
  noteOnClaim: {
    do: "noteOnClaim",
    member,
    uid: claimUid,
    clusterId: sampleClusterId,
    release,
    madeFrom: undefined,
    peers: "http",
  },
  noteSettings: { do: "noteSettings", member, uid: claimUid, settings: "{}" },
  ownClaim: { do: "ownClaim", member, uid: claimUid },
  growClaim: { do: "growClaim", member, uid: claimUid, to: "8Gi" },
  retireClaim: { do: "retireClaim", member, uid: claimUid },
  deleteClaim: { do: "deleteClaim", member, uid: claimUid, because, unlessServed: true },
  adoptClaim: { do: "adoptClaim", member, uid: claimUid },
  promote: { do: "promote", id: sampleId("a"), member },
  updatePeerUrl: { do: "updatePeerUrl", id: sampleId("a"), member, because },
  moveLeader: { do: "moveLeader", from: sampleId("a"), to: sampleId("b"), because },
  removeMember: judged({ do: "removeMember", id: sampleId("a"), member, because, cause: "lost", pod }),
  deletePod: judged({ do: "deletePod", member, uid: podUid, because, force: false, unless: "served" }),
};

/** Who adds a row here says that it takes away nothing that cannot be had again. */
const harmless: readonly ClusterAction["do"][] = [
  "applyService",
  "applyBudget",
  "labelPod",
  "guardPod",
  "noteTrust",
  "renewFiles",
  "markServing",
  "relabelPod",
  "createImageCheck",
  "readImageCheck",
  "deleteImageCheck",
  "confirmChange",
  "disarmNoSpace",
  "recordLogVersion",
  "recordClusterId",
  "addMember",
  "createPod",
  "updatePeerUrl",
];

/** All that is read live before each of the others: whoever takes one away does so here, too. */
const checked: Readonly<Record<string, readonly Precondition["holds"][]>> = {
  makeCertificates: ["clusterAsSeen", "authorityAsSeen"],
  writeCertificate: ["clusterAsSeen"],
  startAgain: ["clusterAsSeen", "podThere"],
  changeImage: ["clusterAsSeen", "podThere", "othersStay"],
  enableDowngrade: ["clusterAsSeen"],
  cancelDowngrade: ["clusterAsSeen"],
  resizePod: ["podThere"],
  createSeed: ["clusterAsSeen", "neverServed", "noUnseenVolume"],
  nameFirstMembers: ["clusterAsSeen", "neverServed", "noUnseenMember"],
  createFirstMembers: ["clusterAsSeen", "neverServed", "noUnseenVolume", "onlyFirstMembers"],
  startFirstMembers: ["clusterAsSeen", "neverServed", "onlyFirstMembers"],
  beginRestore: ["clusterAsSeen", "restoreUnderWay"],
  beginSeed: ["clusterAsSeen", "noMemberLeft"],
  recreatePod: ["clusterAsSeen", "claimAsSeen"],
  noteOnClaim: ["clusterAsSeen", "claimAsSeen"],
  noteSettings: ["clusterAsSeen", "claimAsSeen"],
  ownClaim: ["clusterAsSeen", "claimAsSeen"],
  growClaim: ["clusterAsSeen", "claimAsSeen"],
  retireClaim: ["clusterAsSeen", "claimAsSeen"],
  deleteClaim: ["clusterAsSeen", "claimAsSeen", "neverServed"],
  adoptClaim: ["clusterAsSeen", "claimAsSeen", "neverServed"],
  promote: ["podStays"],
  moveLeader: ["clusterAsSeen"],
  removeMember: ["clusterAsSeen", "podAsSeen", "othersStay"],
  deletePod: ["clusterAsSeen", "neverServed", "podServesNobody"],
};

test("a pod whose member comes back on its volume is deleted only while its claim and the others are as they were seen", () => {
  const deletion = judged({ do: "deletePod", member, uid: podUid, because, force: false, keeps: claimUid });
  const requirements = requirementsOf(deletion) ?? [];
  assert.deepEqual(
    requirements.map(({ holds }) => holds),
    ["clusterAsSeen", "claimAsSeen", "othersStay"],
  );
});

test("nothing that is read live before an action is left out", () => {
  const found = Object.values(samples).flatMap((action) => {
    const requirements = requirementsOf(action)?.map(({ holds }) => holds);
    return requirements === undefined ? [] : [[action.do, requirements] as const];
  });
  assert.deepEqual(Object.fromEntries(found), checked);
});

test("every action that is not known to be harmless has something that is read live before it", () => {
  const without = Object.values(samples).filter((action) => requirementsOf(action) === undefined);
  assert.deepEqual(without.map(({ do: what }) => what).toSorted(), harmless.toSorted());
});

/** What the API server holds, by kind. */
interface Objects {
  cluster: EtcdCluster | undefined;
  pod: Pod | undefined;
  pods: Pod[];
  claim: PersistentVolumeClaim | undefined;
  claims: PersistentVolumeClaim[];
  secret: Secret | undefined;
  restore: EtcdRestore | undefined;
}

const world = sampleWorld({
  unrecorded: true,
  etcd: "nobody",
  annotations: { [rotateCaAnnotation]: "once" },
  change: { claims: [sampleClaim(member)] },
});
const [container] = [{ name: "etcd", image: release.image }];
const aPod: Pod = { metadata: { name: member, uid: podUid }, spec: { containers: [container] } };
const aClaim: PersistentVolumeClaim = {
  metadata: {
    name: member,
    uid: claimUid,
    labels: { [claimLabel]: "current" },
    annotations: { [clusterUidAnnotation]: "uid-of-demo", [clusterIdAnnotation]: sampleClusterId },
  },
  status: { phase: "Bound" },
};
const aSecret: Secret = { metadata: { name: "demo-peer-ca", uid: "s", resourceVersion: "7" } };
const aRestore: EtcdRestore = {
  metadata: { name: "again", uid: "r2" },
  spec: { etcdCluster: { name: "demo" } },
  status: { phase: "Restoring", inPlace: true, clusterUid: "uid-of-demo" },
};

const asSeen = (): Objects => ({
  cluster: world.cluster,
  pod: aPod,
  pods: [],
  claim: aClaim,
  claims: [],
  secret: aSecret,
  restore: aRestore,
});

type Change = (objects: Objects) => Partial<Objects>;

const metadataOf = <T extends KubeObject>(object: T, change: object): T => ({
  ...object,
  metadata: { ...object.metadata, ...change },
});
const cluster = (change: object, status: object = {}): Change => {
  const { metadata, spec, status: before } = sampleCluster({ unrecorded: true });
  const annotations = { [rotateCaAnnotation]: "once" };
  return () => ({
    cluster: { metadata: { ...metadata, annotations, ...change }, spec, status: { ...before, ...status } },
  });
};
const restore = (phase: string) => ({ restore: { name: "again", uid: "r2", phase } });
const changedPod =
  (change: object, status: object = {}): Change =>
  () => ({ pod: { ...metadataOf(aPod, change), status } });
const changedClaim =
  (change: object, status: object = { phase: "Bound" }): Change =>
  () => ({ claim: { ...metadataOf(aClaim, change), status } });
const own = { ownerReferences: [ownerReference(EtcdCluster, world.cluster)] };

/** Worlds in which it does not hold. */
const others: { readonly [H in Precondition["holds"]]: Readonly<Record<string, Change>> } = {
  clusterAsSeen: {
    "it is gone": () => ({ cluster: undefined }),
    "it is another": cluster({ uid: "another" }),
    "it is being deleted": cluster({ deletionTimestamp: "2026-01-31T12:00:00Z" }),
    "it was edited": cluster({ generation: 2 }),
    "something else is asked for": cluster({ annotations: { [rotateCaAnnotation]: "twice" } }),
    "its data is being replaced": cluster({}, restore("Stopping")),
    "its data was replaced": cluster({}, restore("Done")),
  },
  neverServed: {
    "it has an id": cluster({}, { clusterId: sampleClusterId }),
    "it was called running": cluster({}, { phase: "Running" }),
  },
  podAsSeen: { "it is another": changedPod({ uid: "another" }) },
  // Nobody answers in this world, so nobody is counted on; see on-etcd.test.ts.
  othersStay: {},
  podStays: {
    "it is gone": () => ({ pod: undefined }),
    "it is being deleted": changedPod({ deletionTimestamp: "2026-01-31T12:00:00Z" }),
  },
  podThere: { "it is another": changedPod({ uid: "another" }), "it is gone": () => ({ pod: undefined }) },
  podNeverReady: {
    "it is another": changedPod({ uid: "another" }),
    "it is ready": changedPod({}, { conditions: [{ type: "Ready", status: "True" }] }),
  },
  podServesNobody: {
    "it is another": changedPod({ uid: "another" }),
    "it is ready": changedPod({}, { conditions: [{ type: "Ready", status: "True" }] }),
  },
  claimAsSeen: {
    "it is gone": () => ({ claim: undefined }),
    "it is another": changedClaim({ uid: "another" }),
    "it was retired": changedClaim({ labels: { [claimLabel]: "retired" } }),
    "it is being deleted": changedClaim({ deletionTimestamp: "2026-01-31T12:00:00Z" }),
    "it is of another EtcdCluster": changedClaim({
      annotations: { [clusterUidAnnotation]: "another", [clusterIdAnnotation]: sampleClusterId },
    }),
    "it holds other data": changedClaim({
      annotations: { [clusterUidAnnotation]: "uid-of-demo", [clusterIdAnnotation]: otherClusterId },
    }),
    "its volume is lost": changedClaim({}, { phase: "Lost" }),
  },
  noUnseenVolume: { "there is one": () => ({ claims: [metadataOf(aClaim, { name: "demo-z", uid: "unseen" })] }) },
  noMemberLeft: {
    "a pod is left": () => ({ pods: [metadataOf(aPod, own)] }),
    "a claim is not retired": () => ({ claims: [aClaim] }),
  },
  onlyFirstMembers: { "another pod is there": () => ({ pods: [metadataOf(aPod, { ...own, name: "demo-z" })] }) },
  noUnseenMember: {
    "a pod is there": () => ({ pods: [metadataOf(aPod, { ...own, uid: "unseen" })] }),
    "a volume is there": () => ({ claims: [metadataOf(aClaim, { name: "demo-z", uid: "unseen" })] }),
  },
  restoreUnderWay: {
    "it is gone": () => ({ restore: undefined }),
    "it is another": () => ({ restore: metadataOf(aRestore, { uid: "another" }) }),
    "it has succeeded": () => ({ restore: { ...aRestore, status: { ...aRestore.status, phase: "Succeeded" } } }),
    "it has failed": () => ({ restore: { ...aRestore, status: { ...aRestore.status, phase: "Failed" } } }),
    "it means another cluster": () => ({ restore: { ...aRestore, status: { ...aRestore.status, clusterUid: "x" } } }),
    "it does not say which cluster it means": () => ({ restore: { ...aRestore, status: { phase: "Restoring" } } }),
  },
  authorityAsSeen: {
    "it is gone": () => ({ secret: undefined }),
    "it was written since": () => ({ secret: metadataOf(aSecret, { resourceVersion: "8" }) }),
  },
};

/** An execution on these objects; every write to Kubernetes or etcd is noted. */
function executionOn(objects: Objects) {
  const writes: string[] = [];
  const read: string[] = [];
  const write = (verb: string) => () => Promise.resolve(writes.push(verb));
  const of = new Map<string, KubeObject | undefined>([
    [EtcdCluster.kind, objects.cluster],
    [Pod.kind, objects.pod],
    [PersistentVolumeClaim.kind, objects.claim],
    [Secret.kind, objects.secret],
    [EtcdRestore.kind, objects.restore],
  ]);
  const api = {
    get({ kind }: Kind<KubeObject>, { name }: Key) {
      read.push(`${kind} ${name}`);
      const found = of.get(kind);
      return found === undefined ? Promise.reject(new ApiError(404, "NotFound", "")) : Promise.resolve(found);
    },
    list: ({ kind }: Kind<KubeObject>) => Promise.resolve({ items: kind === Pod.kind ? objects.pods : objects.claims }),
    create: write("create"),
    replace: write("replace"),
    apply: write("apply"),
    mergePatch: write("patch"),
    delete: write("delete"),
  };
  const etcd = new Proxy({}, { get: () => write("etcd") });
  const context = {
    caches: () => ({ secrets: { get: () => aSecret } }),
    members: { at: () => etcd },
    logins: { known: () => undefined },
    workerImage: () => "operator",
    now: () => sampleNow,
  };
  const execution = executionOf(assess(world, sampleNow), { api } as never, context as never);
  return { execution, read, writes };
}

for (const action of Object.values(samples)) {
  const requirements = requirementsOf(action);
  if (requirements === undefined) continue;
  describe(action.do, () => {
    test("is let through in the world that was looked at", () =>
      confirm(requirements, executionOn(asSeen()).execution));

    for (const { holds } of requirements)
      for (const [how, change] of Object.entries(others[holds]))
        test(`does nothing unless ${holds}: ${how}`, async () => {
          const { execution, writes } = executionOn({ ...asSeen(), ...change(asSeen()) });
          await assert.rejects(
            carryOut(action, execution),
            (error: unknown) => error instanceof NotYet || error instanceof Refused,
          );
          assert.deepEqual(writes, []);
        });
  });
}

test("what several actions of a decision need is read once, and again for the next decision", async () => {
  const { execution, read } = executionOn(asSeen());
  const once = ["EtcdCluster demo", `PersistentVolumeClaim ${member}`];
  for (const action of [samples.retireClaim, samples.ownClaim]) await confirm(requirementsOf(action) ?? [], execution);
  assert.deepEqual(read, once);
  forgetReads(execution);
  await confirm(requirementsOf(samples.retireClaim) ?? [], execution);
  assert.deepEqual(read, [...once, ...once]);
});

test("a member whose pod has gone since is no reason to wait", () =>
  confirm([{ holds: "podAsSeen", member, pod }], executionOn({ ...asSeen(), pod: undefined }).execution));

test("what this reconcile has written into the status is not taken for another's change", async () => {
  const live = { ...asSeen(), ...cluster({}, restore("Done"))(asSeen()) };
  const { execution } = executionOn(live);
  execution.written = live.cluster;
  await confirm([{ holds: "clusterAsSeen" }], execution);
});

test("volumes that go, and those of another namespace, keep nobody from beginning", async () => {
  const copy = metadataOf(aClaim, { name: "demo-z", uid: "unseen" });
  const going = metadataOf(copy, { deletionTimestamp: "2026-01-31T12:00:00Z" });
  await confirm([{ holds: "noUnseenVolume" }], executionOn({ ...asSeen(), claims: [going] }).execution);
  const { execution } = executionOn({ ...asSeen(), claims: [copy] });
  const foreignClaims = [{ name: "demo-z", uid: "unseen", of: "elsewhere/demo" }];
  const assessment = assess({ ...world, foreignClaims }, sampleNow);
  await confirm([{ holds: "noUnseenVolume" }], { ...execution, assessment });
});
