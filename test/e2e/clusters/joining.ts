// The first members, which join the seed together: one cannot be scheduled, they are deleted as soon as they are created,
// or clients write so much meanwhile that they need a snapshot.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Affinity } from "kubernetes-types/core/v1.js";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster, type EtcdClusterSpec, withDefaults } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { seedName } from "../../../src/cluster/objects/names.ts";
import { Node, type Pod } from "../../../src/kube/objects/kinds.ts";
import { clusterwide, createCluster, type TestCluster } from "../support/cluster.ts";
import { deletePods } from "../support/disruptions.ts";
import { kube, patience, patiently, restrictedNamespace } from "../support/environment.ts";
import { conditionOf } from "../support/status.ts";
import { matrixTest } from "../../support/matrix.ts";
import { memberAt } from "../support/healthy.ts";
import { Writer } from "../proofs/writer.ts";

export function joining(): void {
  describe("joining", { concurrency: 1 }, () => {
    test("of two that join together one cannot be scheduled: the other is promoted, and the first one later", async () => {
      const { items } = await kube.list(Node);
      const [one = "", other = ""] = items.map(({ metadata }) => metadata?.name ?? "");
      await using joined = await begin("held-up", { pod: { affinity: onePerNode("held-up", [one, other]) } });
      const { cluster, writer } = joined;
      await cluster.until("two voters, and the third cannot start", (seen) => {
        const ready = conditionOf(seen, "Ready");
        if (ready?.reason !== "MemberCannotStart") return false;
        return /^2 healthy voters of 3\..*Unschedulable/.test(ready.message ?? "");
      });
      await kube.mergePatch(EtcdCluster, cluster.key, { spec: { pod: { affinity: null } } });
      assert.equal((await cluster.untilHealthy()).members.length, 3);
      await writer.nothingIsLost();
    });

    // src/cluster/plan/plan-together.test.ts and the simulated histories lose members that join.
    matrixTest("two that join together are deleted as soon as they are created, and replaced", async () => {
      await using joined = await begin("deleted", {});
      const { cluster, writer } = joined;
      const seed = seedName(withDefaults(await cluster.get()));
      const fresh = (await untilPods(cluster, 3)).filter(({ metadata }) => metadata?.name !== seed);
      assert.equal(fresh.length, 2);
      // One that never ran gets another pod under the same name.
      const uids = fresh.map(({ metadata }) => metadata?.uid ?? "");
      await deletePods(cluster, ...fresh.map(({ metadata }) => metadata?.name ?? ""));
      assert.equal((await cluster.untilHealthy({ without: uids })).members.length, 3);
      await writer.nothingIsLost();
    });

    test("what is written to the seed before the others have joined is in all members", async () => {
      await using joined = await begin("written", {});
      const { cluster, writer } = joined;
      const seed = memberAt(await untilFirstAddress(cluster));
      const written: string[] = [];
      // Enough that the others need a snapshot.
      while (written.length < 500) {
        const key = `/early/${written.length}`;
        await waitFor(`a write of ${key}`, () => seed.put(key, "1", { deadline: 1_000 }), {
          timeoutMs: patience,
          everyMs: 10,
        });
        written.push(key);
      }
      const { members } = await cluster.untilHealthy();
      for (const { etcd } of members) {
        const { keys } = await etcd.list("/early/", {}, patiently);
        assert.equal(keys.length, written.length);
      }
      await writer.nothingIsLost();
    });
  });
}

interface Joined extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly writer: Writer;
}

/** Does not wait until it is healthy. */
async function begin(name: string, spec: Partial<EtcdClusterSpec>): Promise<Joined> {
  const namespace = await restrictedNamespace(name);
  const cluster = await createCluster({ namespace, name }, { size: 3, ...spec }, clusterwide);
  const writer = new Writer(cluster);
  return {
    cluster,
    writer,
    [Symbol.asyncDispose]: async () => {
      await writer.stop();
      await kube.delete(EtcdCluster, cluster.key);
    },
  };
}

function untilPods(cluster: TestCluster, count: number): Promise<Pod[]> {
  let seen: Pod[] = [];
  return waitFor(
    `${count} pods`,
    async () => {
      seen = await cluster.pods();
      return seen.length === count ? seen : undefined;
    },
    { timeoutMs: patience, everyMs: 20, lastSeen: () => `${seen.length}` },
  );
}

function untilFirstAddress(cluster: TestCluster): Promise<string> {
  return waitFor(
    "the first pod IP",
    async () => {
      const pods = await cluster.pods();
      return pods.map(({ status }) => status?.podIP).find((address) => address !== undefined);
    },
    { timeoutMs: patience, everyMs: 20, lastSeen: () => "none" },
  );
}

/** At most one member per node, on these nodes only. */
function onePerNode(cluster: string, nodes: readonly string[]): Affinity {
  const topologyKey = "kubernetes.io/hostname";
  return {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: topologyKey, operator: "In", values: [...nodes] }] }],
      },
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey, labelSelector: { matchLabels: { etcd_cluster: cluster } } },
      ],
    },
  };
}
