import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster.ts";
import { ApiError } from "../kube/errors.ts";
import { Pod, PodDisruptionBudget, Service } from "../kube/kinds.ts";
import { TransportError } from "../transport/errors.ts";
import { key, RunningOperator } from "./testing/running-operator.ts";

const condition = ({ status }: EtcdCluster, type: string) => status?.conditions?.find((one) => one.type === type);

async function isWhole(operator: RunningOperator, size: number): Promise<void> {
  const members = operator.kubelet.etcd?.members ?? [];
  assert.equal(members.length, size);
  assert.ok(members.every((member) => !member.learner));
  assert.deepEqual(await operator.podNames(), members.map(({ name }) => name).sort());
  const services = (await operator.api.list(Service)).items.map((service) => service.metadata?.name ?? "");
  assert.deepEqual(services.sort(), ["c", "c-client"]);
  assert.equal((await operator.api.list(PodDisruptionBudget)).items.length, 1);
  assert.equal(operator.kubelet.clustersBegun, 1);
  const { status } = await operator.cluster();
  assert.equal(status?.clusterId, operator.kubelet.etcd?.clusterId);
  assert.deepEqual([status?.phase, status?.size, status?.ready], ["Running", size, `${size}/${size}`]);
}

test("an EtcdCluster of three becomes three voters, two Services, a budget and a status that says so", async () => {
  await using operator = new RunningOperator();
  await operator.create(3);
  await operator.ready(3);
  await isWhole(operator, 3);
  const { status } = await operator.cluster();
  assert.equal(status?.clientEndpoints?.length, 3);
  assert.deepEqual([status?.currentVersion, status?.targetVersion, status?.serviceName], ["3.6.16", "", "c-client"]);
  assert.equal(operator.told.filter(({ reason }) => reason === "New Member Added").length, 3);
});

test("a cluster of 3.5, which takes one learner at a time, and one of 3.2, which knows none, come up as well", async () => {
  for (const version of ["3.5.35", "3.2.13"]) {
    await using operator = new RunningOperator();
    await operator.create(3, version);
    await operator.until("three voters", () => operator.kubelet.etcd?.members.length === 3);
    await operator.until("none of them learns", () => operator.kubelet.etcd?.members.every((m) => !m.learner) ?? false);
    assert.equal(operator.kubelet.clustersBegun, 1);
  }
});

test("a second voter whose pod could not be made at first, which costs a lone 3.2 its quorum, gets it", async () => {
  await using operator = new RunningOperator();
  await operator.create(1, "3.2.13");
  await operator.ready(1);
  operator.api.faults.fail({ verb: "create", kind: Pod }, new TransportError("broken", "the connection broke"));
  await operator.api.mergePatch(EtcdCluster, key, { spec: { size: 3 } });
  await operator.ready(3);
  await isWhole(operator, 3);
  assert.deepEqual(
    operator.told.filter(({ type }) => type === "Warning"),
    [],
  );
});

test("a cluster at rest costs no writes and no lists", async () => {
  await using operator = new RunningOperator();
  await operator.create(3);
  await operator.ready(3);
  await operator.clock.advance(1000);
  operator.api.forgetRequests();
  await operator.clock.advance(300_000);
  assert.deepEqual(
    operator.api.requests.filter(({ verb }) => verb !== "watch").map(({ verb, kind }) => `${verb} ${kind}`),
    [],
  );
});

test("a member whose pod is deleted is removed and replaced, and what was written stays", async () => {
  await using operator = new RunningOperator();
  await operator.create(3);
  await operator.ready(3);
  const [victim = ""] = await operator.podNames();
  const [, healthy] = operator.kubelet.etcd?.members ?? [];
  await operator.kubelet.etcd?.at(healthy?.clientUrls[0] ?? "").put("key", "kept");
  await operator.api.delete(Pod, { ...key, name: victim });
  await operator.until("another takes its place", async () => {
    const pods = await operator.podNames();
    return pods.length === 3 && !pods.includes(victim);
  });
  await operator.ready(3);
  await isWhole(operator, 3);
  assert.ok(operator.told.some(({ reason, note }) => reason === "Replacing Dead Member" && note.includes(victim)));
  const member = operator.kubelet.etcd?.members[0];
  const kept = await operator.kubelet.etcd?.at(member?.clientUrls[0] ?? "").get("key");
  assert.equal(Buffer.from(kept?.value ?? []).toString(), "kept");
});

test("a cluster goes from one to five to three", async () => {
  await using operator = new RunningOperator();
  await operator.create(1);
  await operator.ready(1);
  for (const size of [5, 3]) {
    await operator.api.mergePatch(EtcdCluster, key, { spec: { size } });
    await operator.ready(size);
    await operator.until(
      "pods that are no longer wanted are gone",
      async () => (await operator.podNames()).length === size,
    );
    await isWhole(operator, size);
  }
});

test("a lost majority is said at once, with what to do, and nothing is made in its place", async () => {
  await using operator = new RunningOperator();
  await operator.create(3);
  await operator.ready(3);
  const pods = await operator.podNames();
  await operator.stop();
  for (const name of pods.slice(0, 2)) await operator.api.delete(Pod, { ...key, name });
  await operator.kubelet.look();
  operator.start();
  await operator.until("it is said", async () => condition(await operator.cluster(), "Available")?.status === "False");
  await operator.clock.advance(120_000);
  const cluster = await operator.cluster();
  assert.equal(cluster.status?.phase, "Failed");
  assert.equal(condition(cluster, "Available")?.reason, "DataLost");
  assert.match(cluster.status?.reason ?? "", /EtcdRestore/);
  assert.equal(operator.told.filter(({ reason }) => reason === "Data Lost").length, 1);
  assert.deepEqual(await operator.podNames(), pods.slice(2));
  assert.equal(operator.kubelet.clustersBegun, 1);
});

test("what the API server refuses stands in the condition in its own words, and is tried again", async () => {
  await using operator = new RunningOperator();
  const says = 'pods "c-x" is forbidden: exceeded quota: small';
  const end = operator.api.faults.fail({ verb: "create", kind: Pod }, () => new ApiError(403, "Forbidden", says), {
    times: Number.POSITIVE_INFINITY,
  });
  await operator.create(1);
  await operator.until("it is told", async () => condition(await operator.cluster(), "Ready")?.reason === "Refused");
  assert.ok(condition(await operator.cluster(), "Ready")?.message?.includes(says));
  end();
  await operator.ready(1);
});

test("a Service that somebody else made is not taken over", async () => {
  await using operator = new RunningOperator();
  const theirs = { selector: { app: "theirs" }, ports: [{ port: 80 }] };
  await operator.api.create(Service, { metadata: { ...key }, spec: theirs });
  await operator.create(1);
  await operator.until("it is told", async () => condition(await operator.cluster(), "Ready")?.reason === "Refused");
  assert.deepEqual((await operator.api.get(Service, key)).spec?.selector, theirs.selector);
  await operator.api.delete(Service, key);
  await operator.ready(1);
});

/** Everything once undisturbed would prove little: here the operator dies after its first write, its second, and so on. */
async function diesAfterEachWrite(
  size: number,
  prepare: (operator: RunningOperator) => Promise<void>,
): Promise<number> {
  for (let writes = 1; ; writes += 1) {
    await using operator = new RunningOperator();
    await prepare(operator);
    operator.api.faults.crashAfter(writes);
    const isDead = (): boolean => {
      try {
        operator.api.faults.checkAlive();
        return false;
      } catch {
        return true;
      }
    };
    const isDone = async (): Promise<boolean> => {
      const { metadata, status } = await operator.cluster();
      const isReady = condition({ spec: { size }, ...(status && { status }) }, "Ready")?.status === "True";
      return (
        isReady && status?.observedGeneration === metadata?.generation && (await operator.podNames()).length === size
      );
    };
    await operator.until("it has died or is done", async () => isDead() || (await isDone()));
    if (!isDead()) return writes - 1;
    await operator.stop();
    operator.api.faults.restart();
    operator.start();
    await operator.ready(size);
    await operator.until("no pod is left over", async () => (await operator.podNames()).length === size);
    await isWhole(operator, size);
  }
}

test("an operator that dies after any write of a creation is carried on by the next, to the same end", async () => {
  const deaths = await diesAfterEachWrite(3, (operator) => operator.create(3));
  assert.ok(deaths > 15, `it died only ${deaths} times`);
});

test("an operator that dies after any write of a repair is carried on by the next, to the same end", async () => {
  const deaths = await diesAfterEachWrite(3, async (operator) => {
    await operator.create(3);
    await operator.ready(3);
    const [victim = ""] = await operator.podNames();
    await operator.api.delete(Pod, { ...key, name: victim });
  });
  assert.ok(deaths > 4, `it died only ${deaths} times`);
});

test("an operator that dies after any write of a shrinking is carried on by the next, to the same end", async () => {
  const deaths = await diesAfterEachWrite(1, async (operator) => {
    await operator.create(3);
    await operator.ready(3);
    await operator.api.mergePatch(EtcdCluster, key, { spec: { size: 1 } });
  });
  assert.ok(deaths > 4, `it died only ${deaths} times`);
});
