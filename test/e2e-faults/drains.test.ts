// Nodes are taken out of service: all of them drained one after another, and one cordoned in the middle of a roll. This affects
// the whole lab, so it runs alone.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { labNodes } from "../../lab/config.ts";
import { currentEtcd } from "../e2e/support/cluster.ts";
import { lab, patiently } from "../e2e/support/environment.ts";
import { IdentityWatch } from "../e2e/proofs/identity-watch.ts";
import { lane } from "../e2e/support/lane.ts";
import { installOperator } from "../e2e/support/operator.ts";
import { QuorumWatch } from "../e2e/proofs/quorum-watch.ts";
import { onlyReplaced } from "../e2e/proofs/replaced.ts";
import { runs, untilHalfRolled, untilRolled } from "../e2e/proofs/rolled.ts";
import { kubectl } from "../support/kubectl.ts";
import { matrixTest } from "../support/matrix.ts";

const nodes = labNodes(lab).map(({ name }) => name);

describe("drains", { concurrency: 1 }, () => {
  before(async () => {
    await installOperator("clusterwide");
  });
  after(() => kubectl("uncordon", ...nodes));
  const on = lane("drains", { size: 3, version: "3.5.35" });

  test("every node is drained, one after another, and the cluster never goes below a quorum", async () => {
    const { cluster, writer, first } = on();
    await using quorum = new QuorumWatch(cluster);
    await using identity = new IdentityWatch(cluster, first.clusterId);
    for (const node of nodes) {
      // Waits for the budget; the operator's own pod is evicted, too.
      await kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=600s");
      const { members } = await identity.during(cluster.untilHealthy());
      assert.ok(
        members.every((member) => member.node !== node),
        `a member runs on ${node}`,
      );
      await writer.nothingIsLost();
      await kubectl("uncordon", node);
    }
    assert.equal((await cluster.untilHealthy()).clusterId, first.clusterId);
    await quorum.alwaysQuorum();
    await identity.neverViolated();
  });

  matrixTest(
    "a node that is cordoned in the middle of an upgrade does not stop it: members restart where they are",
    async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await using quorum = new QuorumWatch(cluster);
      await cluster.edit({ version: currentEtcd });
      const { others } = await untilHalfRolled(cluster, runs(currentEtcd));
      const node = before.members.find(({ name }) => others.includes(name))?.node;
      assert.ok(node);
      await kubectl("cordon", node);
      const after = await untilRolled(cluster);
      onlyReplaced(before, after);
      for (const { etcd, name } of after.members)
        assert.equal((await etcd.status(patiently)).version, currentEtcd, name);
      await kubectl("uncordon", node);
      await writer.nothingIsLost();
      await quorum.alwaysQuorum();
    },
  );

  matrixTest("a node that is cordoned while members are replaced gets no new one", async () => {
    const { cluster, writer } = on();
    const before = await cluster.untilHealthy();
    await using quorum = new QuorumWatch(cluster, { fewest: 3 });
    const setting = "--snapshot-count=5000";
    await cluster.edit({ etcd: { snapshotCount: 5_000 } });
    const { others } = await untilHalfRolled(cluster, ({ pod }) => {
      return pod.spec?.containers[0]?.command?.includes(setting) ?? false;
    });
    const node = before.members.find(({ name }) => others.includes(name))?.node;
    assert.ok(node);
    await kubectl("cordon", node);
    const cordoned = Date.now();
    const after = await untilRolled(cluster);
    onlyReplaced(before, after, ...before.members.map(({ name }) => name));
    // Creation times are in whole seconds.
    const late = after.members.filter((member) => member.node === node && member.madeAt > cordoned + 1_000);
    assert.deepEqual(
      late.map(({ name }) => name),
      [],
    );
    await kubectl("uncordon", node);
    await writer.nothingIsLost();
    await quorum.alwaysQuorum();
  });
});
