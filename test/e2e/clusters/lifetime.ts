// From the first member to the last object: creation in every version that is served, deletion, and a successor of
// the same name.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import { Pod, PodDisruptionBudget, Service } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { clusterwide, makeCluster, type TestCluster } from "../support/cluster.ts";
import { kube, patience, restrictedNamespace } from "../support/ground.ts";
import { deletePods } from "../support/harm.ts";
import { Writer } from "../support/writer.ts";

/** 3.4 is the oldest that knows learners, and takes one at a time: it is scaled, too. */
const versions: readonly { version: string; sizes: readonly number[] }[] = [
  { version: "3.7.3", sizes: [] },
  { version: "3.5.35", sizes: [] },
  { version: "3.4.23", sizes: [4, 3] },
  { version: "3.2.13", sizes: [] },
];

export function lifetime(): void {
  describe("lifetime", { concurrency: 1 }, () => {
    const writers: Writer[] = [];
    after(() => Promise.all(writers.map((writer) => writer.stop())));

    for (const { version, sizes } of versions)
      test(`a cluster of three of etcd ${version} is made, passes its probes, and a lost member is replaced${sizes.length > 0 ? `; then it has ${sizes.join(" and ")}` : ""}`, async () => {
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
        assert.deepEqual(await restartsOf(cluster), [0, 0, 0]);
        for (const size of sizes) {
          await cluster.scale(size);
          const scaled = await cluster.whole();
          assert.equal(scaled.members.length, size);
          assert.deepEqual(
            after.members.filter(({ id, uid }) => !scaled.members.some((one) => one.id === id && one.uid === uid)),
            [],
            "no member was exchanged for another",
          );
        }
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

    test("a cluster that is deleted goes with all that it owns, and a successor of its name is another one, which that does not touch", async () => {
      const namespace = await restrictedNamespace("lifetime");
      const key = { namespace, name: "lifetime" };
      const first = await makeCluster(key, { size: 3 }, clusterwide);
      const old = await first.whole();
      const names = old.members.map(({ name }) => name);
      // The last pod of the predecessor goes when the test says so, and the successor serves by then.
      await using held = await hold({ namespace, name: old.leader.name });
      await kube.delete(EtcdCluster, key);
      const second = await makeCluster(key, { size: 3 }, clusterwide);
      const { metadata } = await second.until("it serves", ({ status }) => status?.ready === "3/3");
      const owner = metadata?.uid;
      const made = await ownedBy(second, owner);
      assert.equal(made.length, 3);
      assert.equal((await second.pod(old.leader.name))?.metadata?.uid, old.leader.uid);
      // Not earlier: it might have found members that the predecessor still had.
      const writer = new Writer(second);
      writers.push(writer);
      await writer.progress();
      await held.release();
      const young = await second.whole({ without: names });
      assert.notEqual(young.clusterId, old.clusterId);
      const ids = new Set(old.members.map(({ id }) => id));
      assert.ok(young.members.every(({ id }) => !ids.has(id)));
      assert.deepEqual(await ownedBy(second, owner), made);
      for (const pod of await second.podsReady()) assert.equal(pod.metadata?.ownerReferences?.[0]?.uid, owner);
      const services = [key, { namespace, name: `${key.name}-client` }];
      for (const service of await Promise.all(services.map((one) => kube.get(Service, one))))
        assert.equal(service.metadata?.ownerReferences?.[0]?.uid, owner);
      const budget = await kube.get(PodDisruptionBudget, key);
      assert.equal(budget.metadata?.ownerReferences?.[0]?.uid, owner);
      await writer.nothingIsLost();
      await writer.stop();

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

/** By their kubelets' word, when all probes have passed. */
async function restartsOf(cluster: TestCluster): Promise<(number | undefined)[]> {
  const pods = await cluster.podsReady();
  return pods.map(({ status }) => status?.containerStatuses?.[0]?.restartCount);
}

/** Uids of its pods. */
async function ownedBy(cluster: TestCluster, owner: string | undefined): Promise<string[]> {
  const pods = (await cluster.pods()).filter(({ metadata }) => metadata?.ownerReferences?.[0]?.uid === owner);
  return pods.map(({ metadata }) => metadata?.uid ?? "").toSorted();
}

interface Held extends AsyncDisposable {
  release(): Promise<void>;
}

/** A pod that is deleted ends, and stays as an object until it is released. */
async function hold(key: Key): Promise<Held> {
  await kube.mergePatch(Pod, key, { metadata: { finalizers: ["example.com/held"] } });
  const release = async (): Promise<void> => {
    await kube.mergePatch(Pod, key, { metadata: { finalizers: null } }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  };
  return { release, [Symbol.asyncDispose]: release };
}
