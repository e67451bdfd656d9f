// From the first member to the last object: creation in every version that is served, deletion, and a successor of
// the same name.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster.ts";
import { Pod, PodDisruptionBudget, Service } from "../../../src/kube/kinds.ts";
import { clusterwide, makeCluster } from "../support/cluster.ts";
import { kube, patience, restrictedNamespace } from "../support/ground.ts";
import { deletePods } from "../support/harm.ts";
import { Writer } from "../support/writer.ts";

const versions = ["3.7.3", "3.5.35", "3.4.23", "3.2.13"] as const;

export function lifetime(): void {
  describe("lifetime", { concurrency: 1 }, () => {
    const writers: Writer[] = [];
    after(() => Promise.all(writers.map((writer) => writer.stop())));

    for (const version of versions)
      test(`a cluster of three of etcd ${version} is made, and a lost member replaced`, async () => {
        const namespace = await restrictedNamespace("version");
        const cluster = await makeCluster({ namespace, name: "version" }, { size: 3, version }, clusterwide);
        const before = await cluster.whole();
        const { status } = await cluster.get();
        assert.equal(status?.currentVersion, version);
        const writer = new Writer(cluster);
        writers.push(writer);
        await writer.progress();
        await deletePods(cluster, before.leader.name);
        const after = await cluster.whole({ without: [before.leader.name] });
        assert.equal(after.clusterId, before.clusterId);
        await writer.nothingIsLost();
        await writer.stop();
        await kube.delete(EtcdCluster, cluster.key);
      });

    test("a cluster that is not annotated for an operator of the whole Kubernetes is left to one of its namespace", async () => {
      const namespace = await restrictedNamespace("scope");
      const theirs = await makeCluster({ namespace, name: "theirs" }, { size: 1 });
      const ours = await makeCluster({ namespace, name: "ours" }, { size: 1 }, clusterwide);
      await ours.whole();
      assert.deepEqual(await theirs.pods(), []);
      assert.equal((await theirs.get()).status, undefined);
      await kube.mergePatch(EtcdCluster, theirs.key, { metadata: { annotations: clusterwide.annotations } });
      await theirs.whole();
      for (const { key } of [theirs, ours]) await kube.delete(EtcdCluster, key);
    });

    test("a cluster that is deleted goes with all that it owns, and a successor of its name is another one", async () => {
      const namespace = await restrictedNamespace("lifetime");
      const key = { namespace, name: "lifetime" };
      const first = await makeCluster(key, { size: 3 }, clusterwide);
      const old = await first.whole();
      await kube.delete(EtcdCluster, key);
      const second = await makeCluster(key, { size: 3 }, clusterwide);
      const young = await second.whole({ without: old.members.map(({ name }) => name) });
      assert.notEqual(young.clusterId, old.clusterId);
      const ids = new Set(old.members.map(({ id }) => id));
      assert.ok(young.members.every(({ id }) => !ids.has(id)));
      const owner = (await second.get()).metadata?.uid;
      const services = [key, { namespace, name: `${key.name}-client` }];
      for (const service of await Promise.all(services.map((one) => kube.get(Service, one))))
        assert.equal(service.metadata?.ownerReferences?.[0]?.uid, owner);

      await kube.delete(EtcdCluster, key);
      const selection = { namespace, labelSelector: `etcd_cluster=${key.name}` };
      let seen = "";
      await waitFor(
        "everything of it to be gone",
        async () => {
          const lists = await Promise.all([
            kube.list(Pod, selection),
            kube.list(Service, selection),
            kube.list(PodDisruptionBudget, selection),
          ]);
          const left = lists.flatMap(({ items }) => items.map(({ metadata }) => metadata?.name));
          seen = left.join(", ");
          return left.length === 0 ? true : undefined;
        },
        { timeoutMs: patience, lastSeen: () => seen },
      );
    });
  });
}
