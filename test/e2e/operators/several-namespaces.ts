// An operator with several namespaces manages clusters of the same name in two of them, and ignores other namespaces.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { Service } from "../../../src/kube/objects/kinds.ts";
import { createCluster, type TestCluster } from "../support/cluster.ts";
import { kube, restrictedNamespace } from "../support/environment.ts";
import { deletePods } from "../support/disruptions.ts";
import { OperatorProcess } from "../support/operator-process.ts";
import { onlyReplaced } from "../proofs/replaced.ts";
import { followers } from "../support/healthy.ts";
import { Writer } from "../proofs/writer.ts";
import { unseen } from "../support/status.ts";

const name = "several";

async function isCreatedAndHealed(cluster: TestCluster): Promise<string> {
  const before = await cluster.untilHealthy();
  const writer = new Writer(cluster);
  try {
    const [victim] = followers(before);
    assert.ok(victim);
    await writer.progress();
    await deletePods(cluster, victim.name);
    onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
    await writer.nothingIsLost();
  } finally {
    await writer.stop();
  }
  return before.clusterId;
}

export function severalNamespaces(): void {
  describe("several namespaces", () => {
    test("one operator creates and heals the clusters of its namespaces, and ignores those of others", async () => {
      const [here, there, elsewhere] = await Promise.all(["here", "there", "elsewhere"].map(restrictedNamespace));
      assert.ok(here && there && elsewhere);
      const operator = new OperatorProcess({ namespace: here, flags: [`-namespaces=${here},${there}`] });
      // Created first, so that it would have been reconciled before the others are healed.
      const theirs = await createCluster({ namespace: elsewhere, name }, { size: 3 });
      const ours = await Promise.all([here, there].map((namespace) => createCluster({ namespace, name }, { size: 3 })));
      const ids = await operator.during(Promise.all(ours.map(isCreatedAndHealed)));
      assert.equal(new Set(ids).size, 2);
      assert.deepEqual(await theirs.pods(), []);
      assert.deepEqual((await kube.list(Service, { namespace: elsewhere })).items, []);
      assert.deepEqual((await theirs.get()).status, unseen);
      await operator.kill();
      for (const { key } of ours) await kube.delete(EtcdCluster, key);
    });
  });
}
