// Creation in every supported version, deletion, and a new cluster of the same name.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import { scopeAnnotation } from "../../../src/api/scope.ts";
import { Lease, Pod, PodDisruptionBudget, Service } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { type Row, rowsOf } from "../../support/matrix.ts";
import { clusterwide, createCluster, type TestCluster } from "../support/cluster.ts";
import { kube, patience, restrictedNamespace } from "../support/environment.ts";
import { deletePods } from "../support/disruptions.ts";
import { Writer } from "../proofs/writer.ts";
import { unseen } from "../support/status.ts";

/**
 * 3.4 is also scaled: it is the oldest with learners and admits one at a time. refused-services.ts creates and heals 3.7.3, and
 * test/e2e-volumes 3.2.13; the rolls create 3.5.35.
 */
const versions = rowsOf<Row & { version: string; sizes: readonly number[] }>([
  { version: "3.7.3", sizes: [], onlyInMatrix: true },
  { version: "3.5.35", sizes: [], onlyInMatrix: true },
  { version: "3.4.23", sizes: [4, 3] },
  { version: "3.2.13", sizes: [], onlyInMatrix: true },
]);

export function lifecycle(): void {
  describe("lifecycle", { concurrency: 1 }, () => {
    const writers: Writer[] = [];
    after(() => Promise.all(writers.map((writer) => writer.stop())));

    for (const { version, sizes } of versions)
      test(`a cluster of three with etcd ${version} is created, passes its probes, and a lost member is replaced${sizes.length > 0 ? `, and it scales to ${sizes.join(" and ")}` : ""}`, async () => {
        const namespace = await restrictedNamespace("version");
        const cluster = await createCluster({ namespace, name: "version" }, { size: 3, version }, clusterwide);
        const before = await cluster.untilHealthy();
        const { status } = await cluster.get();
        assert.equal(status?.currentVersion, version);
        const writer = new Writer(cluster);
        writers.push(writer);
        await writer.progress();
        await deletePods(cluster, before.leader.name);
        const after = await cluster.untilHealthy({ without: [before.leader.name] });
        assert.equal(after.clusterId, before.clusterId);
        assert.deepEqual(await restartsOf(cluster), [0, 0, 0]);
        for (const size of sizes) {
          await cluster.scale(size);
          const scaled = await cluster.untilHealthy();
          assert.equal(scaled.members.length, size);
          assert.deepEqual(
            after.members.filter(({ id, uid }) => !scaled.members.some((one) => one.id === id && one.uid === uid)),
            [],
            "no member was replaced",
          );
        }
        await writer.nothingIsLost();
        await writer.stop();
        await kube.delete(EtcdCluster, cluster.key);
      });

    test("a cluster-wide operator takes a cluster that nobody manages, and leaves those of a namespace with an operator alone", async () => {
      const [free, claimed] = await Promise.all([restrictedNamespace("scope"), restrictedNamespace("scope-claimed")]);
      await kube.create(Lease, { metadata: { namespace: claimed, name: "etcd-operator" }, spec: {} });
      const theirs = await createCluster({ namespace: claimed, name: "theirs" }, { size: 1 });
      const ours = await createCluster({ namespace: free, name: "ours" }, { size: 1 });
      await ours.untilHealthy();
      await ours.untilEvent("Taken", () => true);
      assert.equal((await ours.get()).metadata?.annotations?.[scopeAnnotation], "clusterwide");
      await theirs.untilEvent("Not Taken", ({ note }) => note?.includes("Lease") ?? false);
      assert.deepEqual(await theirs.pods(), []);
      assert.deepEqual((await theirs.get()).status, unseen);
      await kube.mergePatch(EtcdCluster, theirs.key, { metadata: { annotations: clusterwide.annotations } });
      await theirs.untilHealthy();
      for (const { key } of [theirs, ours]) await kube.delete(EtcdCluster, key);
    });

    test("a deleted cluster goes with everything it owns, and a new cluster of the same name is not affected", async () => {
      const namespace = await restrictedNamespace("lifetime");
      const key = { namespace, name: "lifetime" };
      const first = await createCluster(key, { size: 3 }, clusterwide);
      const old = await first.untilHealthy();
      const names = old.members.map(({ name }) => name);
      // The old cluster's last pod stays until the new cluster serves.
      await using held = await hold({ namespace, name: old.leader.name });
      await kube.delete(EtcdCluster, key);
      const second = await createCluster(key, { size: 3 }, clusterwide);
      const { metadata } = await second.until("it serves", ({ status }) => status?.ready === "3/3");
      const owner = metadata?.uid;
      const made = await ownedBy(second, owner);
      assert.equal(made.length, 3);
      assert.equal((await second.pod(old.leader.name))?.metadata?.uid, old.leader.uid);
      // Not earlier: it might write to members of the old cluster.
      const writer = new Writer(second);
      writers.push(writer);
      await writer.progress();
      await held.release();
      const now = await second.untilHealthy({ without: names });
      assert.notEqual(now.clusterId, old.clusterId);
      const ids = new Set(old.members.map(({ id }) => id));
      assert.ok(now.members.every(({ id }) => !ids.has(id)));
      assert.deepEqual(await ownedBy(second, owner), made);
      for (const pod of await second.untilPodsReady()) assert.equal(pod.metadata?.ownerReferences?.[0]?.uid, owner);
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
        "all its objects to be gone",
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

/** Restart counts, once all pods are ready. */
async function restartsOf(cluster: TestCluster): Promise<(number | undefined)[]> {
  const pods = await cluster.untilPodsReady();
  return pods.map(({ status }) => status?.containerStatuses?.[0]?.restartCount);
}

/** Uids of the pods that belong to this owner. */
async function ownedBy(cluster: TestCluster, owner: string | undefined): Promise<string[]> {
  const pods = (await cluster.pods()).filter(({ metadata }) => metadata?.ownerReferences?.[0]?.uid === owner);
  return pods.map(({ metadata }) => metadata?.uid ?? "").toSorted();
}

interface Held extends AsyncDisposable {
  release(): Promise<void>;
}

/** A finalizer: the deleted pod stops, and its object stays until it is released. */
async function hold(key: Key): Promise<Held> {
  await kube.mergePatch(Pod, key, { metadata: { finalizers: ["example.com/held"] } });
  const release = async (): Promise<void> => {
    await kube.mergePatch(Pod, key, { metadata: { finalizers: null } }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  };
  return { release, [Symbol.asyncDispose]: release };
}
