// Size: as many members as are asked for, one safe step at a time, however often somebody changes their mind.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../../src/api/etcd-cluster.ts";
import { PodDisruptionBudget } from "../../../src/kube/kinds.ts";
import { kubectl } from "../../support/kubectl.ts";
import { kube } from "../support/ground.ts";
import { lane } from "../support/lane.ts";

export function scaling(): void {
  describe("scaling", { concurrency: 1 }, () => {
    const on = lane("scaling", { size: 3 });

    for (const [from, to] of [
      [3, 5],
      [5, 3],
      [3, 1],
      [1, 3],
    ] as const)
      test(`kubectl scale takes a cluster from ${from} to ${to} members`, async () => {
        const { cluster, writer, first } = on();
        const before = await cluster.whole();
        await cluster.scale(to);
        const after = await cluster.whole();
        assert.equal(after.clusterId, first.clusterId);
        assert.equal(after.members.length, to);
        const stayed = after.members.filter(({ id, uid }) => before.members.some((m) => m.id === id && m.uid === uid));
        assert.equal(stayed.length, Math.min(from, to), "no member was exchanged for another");
        if (to < from) assert.equal(after.leader.id, before.leader.id, "the leader is the last to go");
        const { spec } = await kube.get(PodDisruptionBudget, cluster.key);
        assert.equal(spec?.minAvailable, Math.max(1, to - 1));
        await writer.nothingIsLost();
      });

    test("sizes 5, 1 and 3 within a second end at 3, and nothing is lost", async () => {
      const { cluster, writer, first } = on();
      for (const size of [5, 1, 3]) await cluster.edit({ size });
      const after = await cluster.whole();
      assert.equal(after.clusterId, first.clusterId);
      assert.equal(after.members.length, 3);
      await writer.nothingIsLost();
    });

    test("an even size is done, and warned about", async () => {
      const { cluster, writer } = on();
      await cluster.scale(2);
      assert.equal((await cluster.whole()).members.length, 2);
      const event = await cluster.untilEvent("Even Size");
      assert.equal(event.type, "Warning");
      await cluster.scale(3);
      await cluster.whole();
      await writer.nothingIsLost();
    });

    test("a size that cannot be is refused with what to do instead", async () => {
      const { cluster } = on();
      const scaled = kubectl(
        "scale",
        `--namespace=${cluster.namespace}`,
        `etcdcluster/${cluster.name}`,
        "--replicas=0",
      );
      await assert.rejects(scaled, /from 1 to 9/);
      await assert.rejects(kube.mergePatch(EtcdCluster, cluster.key, { spec: { size: 12 } }), /from 1 to 9/);
    });
  });
}
