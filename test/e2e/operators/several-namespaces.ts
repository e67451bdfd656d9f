// An operator that is given several namespaces: clusters of the same name in two of them are two clusters, and what is
// in others is not its business.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { Service } from "../../../src/kube/objects/kinds.ts";
import { makeCluster, type TestCluster } from "../support/cluster.ts";
import { kube, restrictedNamespace } from "../support/ground.ts";
import { deletePods } from "../support/harm.ts";
import { OperatorProcess } from "../support/operator-process.ts";
import { othersStay } from "../support/stay.ts";
import { followers } from "../support/whole.ts";
import { Writer } from "../support/writer.ts";

const name = "several";

async function isMadeAndHealed(cluster: TestCluster): Promise<string> {
  const before = await cluster.whole();
  const writer = new Writer(cluster);
  try {
    const [victim] = followers(before);
    assert.ok(victim);
    await writer.progress();
    await deletePods(cluster, victim.name);
    othersStay(before, await cluster.whole({ without: [victim.name] }), victim.name);
    await writer.nothingIsLost();
  } finally {
    await writer.stop();
  }
  return before.clusterId;
}

export function severalNamespaces(): void {
  describe("several namespaces", () => {
    test("one operator makes and heals the clusters of its namespaces, and leaves those of others alone", async () => {
      const [here, there, elsewhere] = await Promise.all(["here", "there", "elsewhere"].map(restrictedNamespace));
      assert.ok(here && there && elsewhere);
      const operator = new OperatorProcess({ namespace: here, flags: [`-namespaces=${here},${there}`] });
      // Made first, so that it would have had its turn before the others are healed.
      const theirs = await makeCluster({ namespace: elsewhere, name }, { size: 3 });
      const ours = await Promise.all([here, there].map((namespace) => makeCluster({ namespace, name }, { size: 3 })));
      const ids = await operator.during(Promise.all(ours.map(isMadeAndHealed)));
      assert.equal(new Set(ids).size, 2);
      assert.deepEqual(await theirs.pods(), []);
      assert.deepEqual((await kube.list(Service, { namespace: elsewhere })).items, []);
      assert.equal((await theirs.get()).status, undefined);
      await operator.kill();
      for (const { key } of ours) await kube.delete(EtcdCluster, key);
    });
  });
}
