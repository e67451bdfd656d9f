// A cluster that scales from 1 to 3 has one voter and two learners without data: losing the voter is DataLost, and a voter
// that only does not answer is QuorumLost.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { kubectl } from "../../support/kubectl.ts";
import { kube, patience } from "../support/environment.ts";
import { deletePods } from "../support/disruptions.ts";
import { lane } from "../support/lane.ts";
import { whilePaused } from "../support/paused.ts";
import { untilQuota } from "../support/quota.ts";
import { conditionOf } from "../support/status.ts";
import { podText } from "../support/healthy.ts";

const unschedulable = { disk: "none-has-it" };

export function onlyVoter(): void {
  describe("the only voter", { concurrency: 1 }, () => {
    const on = lane("only", { size: 1 });

    test("that is paused while the new learners have no pods is reported as QuorumLost, and recovers", async () => {
      const { cluster, first, writer } = on();
      const inNamespace = `--namespace=${cluster.namespace}`;
      await untilQuota(cluster.namespace, "one-pod", "pods=1");
      await cluster.edit({ size: 3, pod: { nodeSelector: unschedulable } });
      await cluster.until("a learner is listed and its pod refused", (seen) => {
        return (seen.status?.size ?? 0) > 1 && conditionOf(seen, "Ready")?.reason === "Refused";
      });
      try {
        const lost = await whilePaused([`${cluster.namespace}/${first.leader.name}`], () =>
          cluster.until("QuorumLost or DataLost is reported", isLost),
        );
        assert.equal(conditionOf(lost, "Available")?.reason, "QuorumLost");
        assert.equal(lost.status?.phase, "Running", "it may come back by itself");
      } finally {
        await kubectl("delete", "quota", "one-pod", inNamespace);
      }
      await writer.nothingIsLost();
      await cluster.until("it serves again", (seen) => conditionOf(seen, "Available")?.status === "True");
      const events = await cluster.events();
      assert.deepEqual(
        events.filter(({ reason }) => reason === "Data Lost").map(({ note }) => note),
        [],
      );
    });

    test("that is lost while two learners have no data is reported as DataLost, and nothing is started in its place", async () => {
      const { cluster, first, writer } = on();
      let seen = "";
      await waitFor(
        "two learners that cannot be scheduled",
        async () => {
          const pods = await cluster.pods();
          seen = pods.map(podText).join(", ");
          return pods.filter(({ status }) => status?.phase === "Pending").length === 2 || undefined;
        },
        { timeoutMs: patience, lastSeen: () => seen },
      );
      await cluster.until("etcd lists three", ({ status }) => status?.size === 3);
      await writer.stop();
      await deletePods(cluster, first.leader.name);
      const lost = await cluster.until("QuorumLost or DataLost is reported", isLost);
      for (const type of ["Available", "Ready"]) {
        assert.equal(conditionOf(lost, type)?.reason, "DataLost", conditionOf(lost, type)?.message);
        assert.match(
          conditionOf(lost, type)?.message ?? "",
          /cannot come back by itself.*restore one that you have with an EtcdRestore/,
        );
      }
      assert.equal(lost.status?.phase, "Failed");
      assert.equal(lost.status?.clusterId, first.clusterId);
      await cluster.untilEvent("Data Lost");
      // The learners could be scheduled now; they must not start a new cluster.
      await kube.mergePatch(EtcdCluster, cluster.key, { spec: { pod: { nodeSelector: null } } });
      const later = await cluster.untilObserved();
      assert.equal(later.status?.phase, "Failed");
      assert.equal(conditionOf(later, "Available")?.reason, "DataLost");
      assert.equal(later.status?.clusterId, first.clusterId);
    });
  });
}

const isLost = (seen: EtcdCluster): boolean =>
  ["QuorumLost", "DataLost"].includes(conditionOf(seen, "Available")?.reason ?? "");
