// Nodes lose power: one for good, also in the middle of an upgrade, and all at once. This affects the whole lab, so it runs
// alone.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { labNodes } from "../../lab/config.ts";
import { pauseContainer } from "../../lab/faults/containers.ts";
import { powerOff } from "../../lab/faults/power.ts";
import { heal, powerOn, resumeContainer } from "../../lab/faults/undo.ts";
import { waitFor } from "../../lab/progress.ts";
import { clusterwide, createCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { lab, patience, patiently, restrictedNamespace } from "../e2e/support/environment.ts";
import type { HealthyCluster } from "../e2e/support/healthy.ts";
import { nodesReady } from "../e2e/support/nodes.ts";
import { installOperator, type Operator } from "../e2e/support/operator.ts";
import { conditionOf } from "../e2e/support/status.ts";
import { onlyReplaced } from "../e2e/proofs/replaced.ts";
import { runs, untilHalfRolled, untilRolled } from "../e2e/proofs/rolled.ts";
import { Writer } from "../e2e/proofs/writer.ts";
import { matrixTest } from "../support/matrix.ts";

describe("nodes", () => {
  let operator: Operator;
  let cluster: TestCluster;
  let writer: Writer;
  let patientWriter: Writer | undefined;
  let upgradedWriter: Writer | undefined;

  before(async () => {
    operator = await installOperator("clusterwide");
    const namespace = await restrictedNamespace("nodes");
    cluster = await createCluster({ namespace, name: "nodes" }, { size: 3 }, clusterwide);
    await cluster.untilHealthy();
    writer = new Writer(cluster);
  });
  after(async () => {
    await heal(lab);
    await Promise.all([writer?.stop(), patientWriter?.stop(), upgradedWriter?.stop()]);
  });

  test("members start on different nodes", async () => {
    const { members } = await cluster.untilHealthy();
    assert.equal(new Set(members.map(({ node }) => node)).size, Math.min(lab.nodes, 3));
  });

  test("when all nodes lose power at once, the cluster comes back with the same members and every key", async () => {
    // Longer than the outage, so that no member is replaced.
    await cluster.edit({ failover: { unreachableAfterSeconds: 600 } });
    const before = await cluster.untilHealthy();
    await Promise.all(labNodes(lab).map(({ name }) => powerOff(lab, name)));
    for (const { name } of labNodes(lab)) await powerOn(lab, name);
    await nodesReady();
    await writer.progress();
    const after = await untilRestarted(cluster, before);
    onlyReplaced(before, after);
    await writer.nothingIsLost();
    // Membership was read from the WAL again: any two members must still have a quorum.
    for (const { name } of after.members) {
      const pod = `${cluster.namespace}/${name}`;
      await pauseContainer(lab, pod);
      await writer.progress(20);
      await resumeContainer(lab, pod);
      await cluster.untilHealthy();
    }
    await writer.nothingIsLost();
    await cluster.edit({ failover: { unreachableAfterSeconds: 5 } });
  });

  test("a member whose node lost power is replaced on another node after unreachableAfterSeconds", async () => {
    const { namespace } = cluster;
    const patient = await createCluster(
      { namespace, name: "patient" },
      { size: 3, failover: { unreachableAfterSeconds: 600 } },
      clusterwide,
    );
    const [before, patientBefore] = await Promise.all([cluster.untilHealthy(), patient.untilHealthy()]);
    patientWriter = new Writer(patient);
    const home = (await operator.leader()).spec?.nodeName;
    const away = patientBefore.members.find(({ node }) => node !== home && before.members.some((m) => m.node === node));
    const victim = before.members.find(({ node }) => node === away?.node);
    assert.ok(victim && away);
    await powerOff(lab, victim.node);
    const after = await cluster.untilHealthy({ without: [victim.name] });
    onlyReplaced(before, after, victim.name);
    assert.ok(after.members.every(({ node }) => node !== victim.node));
    await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(`${victim.node} is gone`) ?? false);
    await writer.nothingIsLost();
    // The other cluster has a longer unreachableAfterSeconds and waits.
    await patient.until("Ready names the missing member", (seen) => {
      const ready = conditionOf(seen, "Ready");
      return ready?.status === "False" && ready.message?.includes(away.name) === true;
    });
    await patientWriter.progress();
    const here = patientBefore.members.find(({ node }) => node !== victim.node);
    const listed = await here?.etcd.memberList({ linearizable: true }, patiently);
    assert.deepEqual(idsOf(listed?.members ?? []), idsOf(patientBefore.members));
    assert.deepEqual(
      (await patient.pods()).map(({ metadata }) => [metadata?.uid, metadata?.deletionTimestamp]),
      patientBefore.members.map(({ uid }) => [uid, undefined]),
    );
    await powerOn(lab, victim.node);
    await nodesReady();
    // The old pod on that node must not disturb the others.
    await writer.progress(50);
    onlyReplaced(after, await cluster.untilHealthy());
    await writer.nothingIsLost();
    onlyReplaced(patientBefore, await patient.untilHealthy());
    await patientWriter.nothingIsLost();
  });

  matrixTest(
    "an upgrade during which a node loses power replaces the member there and goes on with the others",
    async () => {
      // A new one, with a member on each node.
      const upgraded = await createCluster(
        { namespace: cluster.namespace, name: "upgraded" },
        { size: 3, failover: { unreachableAfterSeconds: 5 } },
        clusterwide,
      );
      const before = await upgraded.untilHealthy();
      upgradedWriter = new Writer(upgraded);
      await upgradedWriter.progress();
      const to = "3.7.3";
      await upgraded.edit({ version: to });
      const { others } = await untilHalfRolled(upgraded, runs(to));
      // Kubernetes takes minutes to move the operator from a node that is gone.
      const home = (await operator.leader()).spec?.nodeName;
      const victim = before.members.find(({ name, node }) => others.includes(name) && node !== home);
      assert.ok(victim);
      await powerOff(lab, victim.node);
      const after = await untilRolled(upgraded);
      onlyReplaced(before, after, victim.name);
      for (const { etcd, name } of after.members) assert.equal((await etcd.status(patiently)).version, to, name);
      await upgradedWriter.nothingIsLost();
      await powerOn(lab, victim.node);
      await nodesReady();
      await upgradedWriter.progress(50);
      onlyReplaced(after, await upgraded.untilHealthy());
      await upgradedWriter.nothingIsLost();
    },
  );
});

const idsOf = (members: readonly { readonly id: string }[]): string[] => members.map(({ id }) => id).toSorted();

/** Members serve some time before the kubelets report that their containers were started again. */
function untilRestarted(cluster: TestCluster, before: HealthyCluster): Promise<HealthyCluster> {
  let seen = "nothing yet";
  return waitFor(
    "every member to have restarted",
    async () => {
      const after = await cluster.untilHealthy();
      seen = after.members.map(({ name, restarts }) => `${name}: ${restarts}`).join(", ");
      return after.members.every(({ restarts, name }) => restarts > restartsOf(name, before.members))
        ? after
        : undefined;
    },
    { timeoutMs: patience, lastSeen: () => seen },
  );
}

const restartsOf = (name: string, members: readonly { name: string; restarts: number }[]): number =>
  members.find((member) => member.name === name)?.restarts ?? 0;
