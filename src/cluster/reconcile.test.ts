// The controller from end to end, undisturbed or with what people and servers do every day; crashes.test.ts and
// old-views.test.ts are about the rest.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { ApiError } from "../kube/client/errors.ts";
import { Pod, PodDisruptionBudget, Service } from "../kube/objects/kinds.ts";
import { TransportError } from "../transport/errors.ts";
import { key, Stage } from "./testing/stage.ts";

function begin(): Stage {
  const stage = new Stage();
  stage.startOperator();
  return stage;
}

const untilRefused = (stage: Stage): Promise<void> =>
  stage.until("it is reported", async () => (await stage.condition("Ready"))?.reason === "Refused");

async function assertWhole(stage: Stage, size: number): Promise<void> {
  await stage.untilWhole(size);
  const { etcd, etcds } = stage.kubelet;
  const { seeds, misled } = etcds;
  assert.deepEqual(await stage.podNames(), etcd?.members.map(({ name }) => name).toSorted());
  const services = (await stage.api.list(Service)).items.map(({ metadata }) => metadata?.name ?? "");
  assert.deepEqual(services.toSorted(), [key.name, `${key.name}-client`]);
  assert.equal((await stage.api.list(PodDisruptionBudget)).items.length, 1);
  assert.deepEqual({ seeds, misled }, { seeds: 1, misled: 0 });
  const { status } = await stage.cluster();
  assert.equal(status?.clusterId, etcd?.clusterId);
  assert.deepEqual([status?.phase, status?.size, status?.ready], ["Running", size, `${size}/${size}`]);
}

test("an EtcdCluster of three becomes three voters, two Services, a budget and a status that says so", async () => {
  await using stage = begin();
  await stage.create(3);
  await assertWhole(stage, 3);
  const { status } = await stage.cluster();
  assert.equal(status?.clientEndpoints?.length, 3);
  assert.deepEqual(
    [status?.currentVersion, status?.targetVersion, status?.serviceName],
    ["3.6.16", "", `${key.name}-client`],
  );
  assert.equal(stage.recorded.filter(({ reason }) => reason === "New Member Added").length, 3);
  const made = stage.api.writes.filter(({ kind, verb }) => kind === "Pod" && verb !== "mergePatch");
  assert.deepEqual(
    made.map(({ verb }) => verb),
    ["create", "create", "create"],
  );
});

test("a cluster of 3.5, which takes one learner at a time, and one of 3.2, which knows none, come up as well", async () => {
  for (const version of ["3.5.35", "3.2.13"]) {
    await using stage = begin();
    await stage.create(3, version);
    await assertWhole(stage, 3);
  }
});

test("a second voter whose pod could not be made at first, which costs a lone 3.2 its quorum, gets it", async () => {
  await using stage = begin();
  await stage.createWhole(1, "3.2.13");
  stage.api.faults.fail({ verb: "create", kind: Pod }, new TransportError("broken", "the connection broke"));
  await stage.resize(3);
  await assertWhole(stage, 3);
  assert.deepEqual(
    stage.recorded.filter(({ type }) => type === "Warning"),
    [],
  );
});

test("a cluster at rest costs no writes and no lists", async () => {
  await using stage = begin();
  await stage.createWhole(3);
  stage.api.forgetRequests();
  await stage.clock.advance(300_000);
  assert.deepEqual(
    stage.api.requests.filter(({ verb }) => verb !== "watch").map(({ verb, kind }) => `${verb} ${kind}`),
    [],
  );
});

test("a member whose pod is deleted is removed and replaced, and what was written stays", async () => {
  await using stage = begin();
  await stage.createWhole(3);
  const { etcd } = stage.kubelet;
  const written = etcd?.members.find(({ id }) => id === etcd.leader)?.clientUrls[0] ?? "";
  await etcd?.at(written).put("key", "kept");
  const victim = await stage.deletePod("leader");
  await stage.until("another takes its place", async () => !(await stage.podNames()).includes(victim));
  await assertWhole(stage, 3);
  assert.ok(stage.recorded.some(({ reason, note }) => reason === "Replacing Dead Member" && note.includes(victim)));
  const kept = await etcd?.at(etcd.members[0]?.clientUrls[0] ?? "").get("key");
  assert.equal(Buffer.from(kept?.value ?? []).toString(), "kept");
});

test("a cluster goes from one to five to three", async () => {
  await using stage = begin();
  await stage.createWhole(1);
  for (const size of [5, 3]) {
    await stage.resize(size);
    await assertWhole(stage, size);
  }
});

test("a lost majority is said at once, with what to do, and nothing is made in its place", async () => {
  await using stage = begin();
  await stage.createWhole(3);
  await stage.stopOperator();
  const left = await stage.loseMajority();
  await stage.pass(2_000);
  stage.startOperator();
  await stage.until("it is said", async () => (await stage.condition("Available"))?.status === "False", 1000);
  await stage.pass(120_000);
  const { status } = await stage.cluster();
  assert.equal(status?.phase, "Failed");
  assert.equal((await stage.condition("Available"))?.reason, "DataLost");
  assert.match(status.reason ?? "", /EtcdRestore/);
  assert.equal(stage.recorded.filter(({ reason }) => reason === "Data Lost").length, 1);
  assert.deepEqual(await stage.podNames(), left);
});

test("a reconcile that could do nothing because it lacks a quorum counts as failed, and any other as done", async () => {
  await using stage = begin();
  const failed = 'etcd_operator_cluster_reconcile_failed{Reason="lostQuorum"}';
  const done = "etcd_operator_cluster_reconcile_duration_count";
  await stage.createWhole(3);
  assert.ok(stage.metric(done) > 0);
  assert.equal(stage.metric(failed), 0);
  await stage.stopOperator();
  await stage.loseMajority();
  await stage.pass(2_000);
  stage.startOperator();
  await stage.until("it is counted", () => stage.metric(failed) > 0);
  assert.equal(stage.metric(done), 0);
});

test("a cluster that etcd-operator 0.9 left dead is reported as lost, and none is begun in its place", async () => {
  await using stage = new Stage();
  await stage.create(3);
  const status = { phase: "Running", size: 3, members: { ready: ["c-0000"], unready: [] } };
  await stage.api.mergePatch(EtcdCluster, key, { status }, { subresource: "status" });
  stage.startOperator();
  await stage.until("it is said", async () => (await stage.condition("Available"))?.reason === "DataLost");
  await stage.pass(120_000);
  assert.equal((await stage.cluster()).status?.phase, "Failed");
  await stage.stopOperator();
  stage.startOperator();
  await stage.pass(60_000);
  assert.deepEqual(await stage.podNames(), []);
});

test("empty fields of TLS, as clients of etcd-operator 0.9 send them, ask for none", async () => {
  await using stage = begin();
  const TLS = { static: { member: { peerSecret: "", serverSecret: "" }, operatorSecret: "" } };
  await stage.create(3, "3.6.16", { TLS });
  await assertWhole(stage, 3);
});

test("nobody is reported to lead a cluster that has lost its majority", async () => {
  await using stage = begin();
  await stage.createWhole(3);
  assert.notEqual((await stage.cluster()).status?.leader ?? "", "");
  await stage.stopOperator();
  await stage.loseMajority();
  await stage.pass(2_000);
  stage.startOperator();
  await stage.until("it is said", async () => (await stage.condition("Available"))?.status === "False");
  assert.equal((await stage.cluster()).status?.leader, undefined);
});

test("each condition tells when it was last changed, in what it says or in how it stands", async () => {
  await using stage = begin();
  await stage.createWhole(1);
  const before = await stage.condition("Ready");
  await stage.pass(60_000);
  assert.deepEqual(await stage.condition("Ready"), before);
  await stage.resize(2);
  await stage.untilWhole(2);
  const after = await stage.condition("Ready");
  assert.ok((after?.lastUpdateTime ?? "") > (before?.lastUpdateTime ?? "~"));
});

test("a status that is refused for the object's own name is reported by an event", async () => {
  await using stage = begin();
  const refusal = (): ApiError => new ApiError(422, "Invalid", "metadata.name must not be longer");
  stage.api.faults.fail({ verb: "mergePatch", kind: EtcdCluster }, refusal, { times: Number.POSITIVE_INFINITY });
  await stage.api.create(EtcdCluster, { metadata: { ...key }, spec: { size: 1, version: "2.3.8" } });
  await stage.until("it is reported", () =>
    stage.recorded.some(({ reason, note }) => reason === "Invalid Spec" && note.includes("2.3.8")),
  );
});

test("what the API server refuses stands in the condition in its own words, and is tried again", async () => {
  await using stage = begin();
  const says = 'pods "c-x" is forbidden: exceeded quota: small';
  const end = stage.api.faults.fail({ verb: "create", kind: Pod }, () => new ApiError(403, "Forbidden", says), {
    times: Number.POSITIVE_INFINITY,
  });
  await stage.create(1);
  await untilRefused(stage);
  assert.ok((await stage.condition("Ready"))?.message?.includes(says));
  end();
  await stage.untilWhole(1);
});

test("a Service that somebody else made is not taken over", async () => {
  await using stage = begin();
  const theirs = { selector: { app: "theirs" }, ports: [{ port: 80 }] };
  await stage.api.create(Service, { metadata: { ...key }, spec: theirs });
  await stage.create(1);
  await untilRefused(stage);
  assert.deepEqual((await stage.api.get(Service, key)).spec?.selector, theirs.selector);
  await stage.api.delete(Service, key);
  await stage.untilWhole(1);
});

test("a first member with too little memory is cured by the corrected limit", async () => {
  await using stage = begin();
  stage.kubelet.memoryNeeded = 64 * 1024 ** 2;
  await stage.create(1, "3.6.16", { pod: { resources: { limits: { memory: "8Mi" } } } });
  await stage.until(
    "it is reported",
    async () => (await stage.condition("Ready"))?.message?.includes("OOMKilled") ?? false,
  );
  await stage.edit({ pod: { resources: { limits: { memory: "256Mi" } } } });
  await assertWhole(stage, 1);
  assert.deepEqual((await stage.pods())[0]?.spec?.containers[0]?.resources?.limits, { memory: "256Mi" });
});

test("a Service that is refused holds up no member", async () => {
  await using stage = begin();
  await stage.createWhole(3);
  stage.refuse(Service);
  await stage.api.delete(Service, { ...key, name: `${key.name}-client` });
  const lost = await stage.deletePod("follower");
  await stage.until("it is replaced", () => {
    const members = stage.kubelet.etcd?.members ?? [];
    return members.length === 3 && members.every(({ name, learner }) => name !== "" && name !== lost && !learner);
  });
  await stage.until("the refusal is reported", async () => (await stage.condition("Ready"))?.reason === "Refused");
});
