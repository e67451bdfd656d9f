// Operators stop and start: clusters serve without them, one operator acts at a time, and what happened meanwhile is
// repaired. These are namespaced operators with permissions in their namespace only; others with other flags run in parallel.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { killContainer } from "../../lab/faults/containers.ts";
import { waitFor } from "../../lab/progress.ts";
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { Event, Lease, Pod } from "../../src/kube/objects/kinds.ts";
import { clusterwide, createCluster, type TestCluster } from "./support/cluster.ts";
import { kube, lab, patience } from "./support/environment.ts";
import { deletePods } from "./support/disruptions.ts";
import { chaosLevel } from "./operators/chaos.ts";
import { severalNamespaces } from "./operators/several-namespaces.ts";
import { upgraded } from "./operators/upgraded.ts";
import { OperatorProcess } from "./support/operator-process.ts";
import { installOperator, type Operator, valueOf } from "./support/operator.ts";
import { conditionOf, unseen } from "./support/status.ts";
import { onlyReplaced } from "./proofs/replaced.ts";
import { followers } from "./support/healthy.ts";
import { Writer } from "./proofs/writer.ts";
import { matrixTest } from "../support/matrix.ts";

describe("operators", { concurrency: 1 }, () => {
  let operator: Operator;
  before(async () => {
    operator = await installOperator("namespace");
  });
  describe("side by side", { concurrency: 3 }, () => {
    describe("stop and start", { concurrency: 1 }, () => stopAndStart(() => operator));
    chaosLevel();
    severalNamespaces();
    upgraded();
  });
  besideAClusterWideOne(() => operator);
});

function stopAndStart(installed: () => Operator): void {
  let operator: Operator;
  let cluster: TestCluster;
  let writer: Writer;

  before(async () => {
    operator = installed();
    cluster = await createCluster({ namespace: operator.namespace, name: "served" }, { size: 3 });
    await cluster.untilHealthy();
    writer = new Writer(cluster);
  });
  after(() => writer?.stop());

  const isGone = (name: string): Promise<true> =>
    waitFor(`${name} to be gone`, async () => ((await cluster.pod(name)) === undefined ? true : undefined), {
      timeoutMs: patience,
    });

  test("the metrics have the names of etcd-operator 0.9 and count the clusters", async () => {
    const text = await operator.metrics();
    assert.match(text, /^etcd_operator_controller_clusters 1$/m);
    for (const name of ["clusters_created", "clusters_deleted", "clusters_modified", "clusters_failed"])
      assert.ok(text.includes(`# TYPE etcd_operator_controller_${name} counter`), name);
    assert.ok(text.includes("# TYPE etcd_operator_cluster_reconcile_duration histogram"));
    assert.ok(text.includes("# TYPE etcd_operator_cluster_reconcile_failed counter"));
  });

  test("the metrics count clusters that are created, edited, lost and deleted", async () => {
    const names = ["created", "modified", "failed", "deleted"];
    const counts = async (): Promise<number[]> => {
      const text = await operator.metrics();
      return names.map((name) => valueOf(text, `etcd_operator_controller_clusters_${name}`));
    };
    const before = await counts();
    const counted = await createCluster({ namespace: operator.namespace, name: "counted" }, { size: 1 });
    const { leader } = await counted.untilHealthy();
    await counted.edit({ failover: { unreachableAfterSeconds: 50 } });
    await deletePods(counted, leader.name);
    await counted.until("phase is Failed", ({ status }) => status?.phase === "Failed");
    await kube.delete(EtcdCluster, counted.key);
    let seen: number[] = [];
    await waitFor(
      "one more of each",
      async () => {
        seen = await counts();
        return seen.every((count, i) => count === (before[i] ?? 0) + 1) || undefined;
      },
      { timeoutMs: patience, lastSeen: () => `${names.join(", ")}: ${before.join(", ")}, then ${seen.join(", ")}` },
    );
  });

  test("a cluster serves without an operator, and a member lost meanwhile is replaced when one is back", async () => {
    const before = await cluster.untilHealthy();
    await operator.scale(0);
    const [victim] = before.members;
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    await isGone(victim.name);
    await writer.progress();
    assert.equal((await cluster.pods()).length, 2);
    await operator.scale(1);
    onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
    await writer.nothingIsLost();
  });

  // test/e2e-rolls/rolls/configuration.ts restarts one, too.
  matrixTest("a restarted operator does not change a healthy cluster", async () => {
    const before = await cluster.untilHealthy();
    const { metadata } = await cluster.get();
    await operator.scale(0);
    await operator.scale(1);
    await operator.leader();
    // An edit is reconciled after the first reconcile of the restarted operator.
    await cluster.edit({ failover: { unreachableAfterSeconds: 50 } });
    await cluster.untilObserved();
    onlyReplaced(before, await cluster.untilHealthy());
    assert.equal((await cluster.get()).metadata?.uid, metadata?.uid);
    await writer.nothingIsLost();
  });

  test("a restarted operator does not start a new cluster in place of one that lost all its pods", async () => {
    const lost = await createCluster({ namespace: operator.namespace, name: "lost" }, { size: 1 });
    const before = await lost.untilHealthy();
    await operator.scale(0);
    await deletePods(lost, ...before.members.map(({ name }) => name));
    for (const { name } of before.members) await isGone(name);
    await operator.scale(1);
    const failed = await lost.until("phase is Failed", ({ status }) => status?.phase === "Failed");
    assert.match(conditionOf(failed, "Ready")?.message ?? "", /restore one that you have with an EtcdRestore/);
    await lost.untilEvent("Data Lost");
    // Once more, with an operator that finds phase Failed.
    await operator.scale(0);
    await operator.scale(1);
    await lost.edit({ size: 3 });
    const later = await lost.untilObserved();
    assert.equal(later.status?.phase, "Failed");
    assert.equal(later.status?.clusterId, before.clusterId);
    assert.deepEqual(await lost.pods(), []);
    await kube.delete(EtcdCluster, lost.key);
    await writer.nothingIsLost();
  });

  test("of two operators only the leader acts: a lost member is replaced once", async () => {
    // On a busy machine a leader may come too late to renew its Lease, and another one leads.
    let tries = 3;
    while (!(await onlyTheLeaderActs())) assert.ok((tries -= 1) > 0, "leaders came and went");
    await writer.nothingIsLost();
  });

  /** False when another one came to lead. */
  async function onlyTheLeaderActs(): Promise<boolean> {
    await operator.scale(1);
    const { metadata } = await operator.leader();
    await operator.scale(2);
    const before = await cluster.untilHealthy();
    const known = new Set((await replacements()).map(({ metadata }) => metadata?.uid));
    const leader = await operator.leader();
    const other = (await operator.pods()).find(({ metadata }) => metadata?.uid !== leader.metadata?.uid);
    const [victim] = followers(before);
    assert.ok(other && victim);
    const healed = "etcd_operator_cluster_recovery_seconds_count";
    const passes = "etcd_operator_cluster_reconcile_duration_count";
    const earlier = await operator.metrics(leader);
    await deletePods(cluster, victim.name);
    const after = await cluster.untilHealthy({ without: [victim.name] });
    onlyReplaced(before, after, victim.name);
    const successor = after.members.find(({ id }) => !before.members.some((member) => member.id === id));
    assert.ok(successor);
    await cluster.untilEvent("New Member Added", ({ note }) => note?.includes(successor.name) ?? false);
    const leads = async (): Promise<boolean> => (await operator.leader()).metadata?.uid === metadata?.uid;
    if (leader.metadata?.uid !== metadata?.uid || !(await leads())) return false;
    const fresh = (await replacements()).filter(({ metadata }) => !known.has(metadata?.uid));
    assert.deepEqual(
      fresh.map(({ reportingInstance, series }) => ({ reportingInstance, series })),
      [{ reportingInstance: leader.metadata?.name, series: undefined }],
    );
    // It is counted after the status was written.
    let later = "";
    const isCounted = async (): Promise<true | undefined> => {
      later = await operator.metrics(leader);
      return [healed, passes].every((name) => valueOf(later, name) > valueOf(earlier, name)) || undefined;
    };
    await waitFor("the leader to have counted it", isCounted, { timeoutMs: patience, lastSeen: () => later });
    const idle = await operator.metrics(other);
    if (!(await leads())) return false;
    for (const name of [healed, passes]) assert.equal(valueOf(idle, name), 0, name);
    return true;
  }

  test("the second operator takes over when the leader is killed, and a lost member is replaced once", async () => {
    await operator.scale(2);
    const before = await cluster.untilHealthy();
    const known = new Set((await replacements()).map(({ metadata }) => metadata?.uid));
    const leader = await operator.leader();
    const name = leader.metadata?.name ?? "";
    const [victim] = before.members;
    assert.ok(victim);
    // Killed first, so that it cannot release the Lease.
    await killContainer(lab, `${operator.namespace}/${name}`);
    await kube.delete(Pod, { namespace: operator.namespace, name }, { gracePeriodSeconds: 0 });
    await deletePods(cluster, victim.name);
    const after = await cluster.untilHealthy({ without: [victim.name] });
    onlyReplaced(before, after, victim.name);
    const lease = await kube.get(Lease, { namespace: operator.namespace, name: operator.lease });
    assert.ok(!lease.spec?.holderIdentity?.startsWith(name), `${lease.spec?.holderIdentity} leads`);
    const successor = after.members.find(({ id }) => !before.members.some((member) => member.id === id));
    assert.ok(successor);
    await cluster.untilEvent("New Member Added", ({ note }) => note?.includes(successor.name) ?? false);
    const fresh = (await replacements()).filter(({ metadata }) => !known.has(metadata?.uid));
    assert.equal(fresh.length, 1, fresh.map(({ note }) => note).join("; "));
    await writer.nothingIsLost();
    await operator.scale(1);
  });

  test("a namespaced operator ignores clusters that are annotated for a cluster-wide one", async () => {
    const { namespace } = operator;
    const theirs = await createCluster({ namespace, name: "theirs" }, { size: 1 }, clusterwide);
    const ours = await createCluster({ namespace, name: "ours" }, { size: 1 });
    await ours.untilHealthy();
    assert.deepEqual(await theirs.pods(), []);
    assert.deepEqual((await theirs.get()).status, unseen);
    await kube.mergePatch(EtcdCluster, theirs.key, { metadata: { annotations: null } });
    await theirs.untilHealthy();
    for (const { key } of [theirs, ours]) await kube.delete(EtcdCluster, key);
  });

  const replacements = async (): Promise<Event[]> =>
    (await cluster.events()).filter(({ reason }) => reason === "New Member Added");
}

/** Alone: it would take the clusters of others that nobody manages. */
function besideAClusterWideOne(installed: () => Operator): void {
  test("a cluster-wide operator in the same namespace leads beside it: each manages its own clusters", async () => {
    const operator = installed();
    const { namespace } = operator;
    const leader = await operator.leader();
    const other = new OperatorProcess({ namespace, flags: ["-cluster-wide"] });
    try {
      const theirs = await createCluster({ namespace, name: "theirs-too" }, { size: 1 }, clusterwide);
      const ours = await createCluster({ namespace, name: "ours-too" }, { size: 1 });
      await other.during(Promise.all([theirs.untilHealthy(), ours.untilHealthy()]));
      const { spec } = await kube.get(Lease, { namespace, name: "etcd-operator-clusterwide" });
      assert.match(spec?.holderIdentity ?? "", /^operator_/);
      assert.equal((await operator.leader()).metadata?.uid, leader.metadata?.uid);
      for (const { key } of [theirs, ours]) await kube.delete(EtcdCluster, key);
    } finally {
      await other.kill();
    }
  });
}
