// Backups of more than one etcd under one name or at one path: a cluster that is lost and recreated from the same manifest, and
// two namespaces that share a path. Nobody's backups count, go or are chosen for those of another.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdBackup } from "../../../src/api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../../../src/api/etcd-restore/etcd-restore.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { clusterwide, createCluster, type TestCluster } from "../../e2e/support/cluster.ts";
import { kube, patience, patiently, restrictedNamespace } from "../../e2e/support/environment.ts";
import { lane } from "../../e2e/support/lane.ts";
import type { Bucket } from "../support/bucket.ts";
import { backUp, restore, untilBackup, untilRefused, untilRestored } from "../support/objects.ts";

export function otherClusters(bucket: () => Bucket): void {
  describe("backups of another cluster", { concurrency: 1 }, () => {
    const on = lane("again", { size: 1 }, (namespace) => bucket().open(namespace));

    test("of the same name, lost and recreated, stay, and the empty one is not restored in their place", async () => {
      const { cluster, writer, first } = on();
      const { namespace, name } = cluster;
      const key = { namespace, name: "kept" };
      const path = `${namespace}/kept`;
      await writer.progress(20);
      const written = writer.soFar();
      await backUp(key, {
        clusterRef: { name },
        storageType: "S3",
        s3: bucket().at(path),
        backupPolicy: { backupIntervalInSecond: 3, maxBackups: 2 },
      });
      await untilBackup(key, "three runs", ({ status }) => (status?.history ?? []).length >= 3);
      await kube.mergePatch(EtcdBackup, key, { spec: { backupPolicy: { suspend: true } } });
      const { status } = await untilBackup(key, "to be suspended", (seen) => seen.status?.phase === "Suspended");
      const good = await bucket().keys(path);
      assert.equal(good.length, 2);

      await writer.stop();
      await lose(cluster);
      const recreated = await createCluster(cluster.key, { size: 1 }, clusterwide);
      const second = await recreated.untilHealthy();
      assert.notEqual(second.clusterId, first.clusterId);
      const before = new Set(status?.history?.map(({ id }) => id));
      await kube.mergePatch(EtcdBackup, key, { spec: { backupPolicy: { suspend: false } } });
      const { status: after } = await untilBackup(
        key,
        "three runs of the new cluster",
        (seen) => (seen.status?.history ?? []).filter(({ id }) => !before.has(id)).length >= 3,
      );
      const problem = after?.conditions?.find(({ type }) => type === "Problem");
      assert.equal(problem?.reason, "PruningStopped");
      assert.match(problem.message ?? "", /another etcd cluster.*No backup is deleted/);
      const kept = await bucket().keys(path);
      assert.deepEqual(
        good.filter((one) => !kept.includes(one)),
        [],
      );

      await restore(cluster.key, { etcdCluster: { name }, backup: { name: key.name } });
      const reason = await untilRefused(cluster.key);
      assert.match(reason, /different etcd clusters.*Nothing was touched/);
      await kube.delete(EtcdRestore, cluster.key);
      assert.equal((await recreated.untilHealthy()).leader.uid, second.leader.uid);
      const named = { backupStorageType: "S3", s3: bucket().at(good.at(-1) ?? "") } as const;
      await restore(cluster.key, { etcdCluster: { name }, ...named });
      await untilRestored(cluster.key);
      await recreated.untilHealthy();
      assert.deepEqual(await writer.missing(written), []);
      await kube.delete(EtcdRestore, cluster.key);
      await kube.delete(EtcdBackup, key);
    });

    test("of another namespace at the same path are not taken, by whatever is shared between the two", async () => {
      const { cluster } = on();
      const path = `${cluster.namespace}/shared`;
      const namespace = await restrictedNamespace("sharing");
      await bucket().open(namespace);
      const other = await createCluster({ namespace, name: cluster.name }, { size: 1 }, clusterwide);
      for (const [one, whose] of [
        [cluster, "ours"],
        [other, "theirs"],
      ] as const) {
        const { leader } = await one.untilHealthy();
        await leader.etcd.put("/whose", whose, patiently);
        const own = { namespace: one.namespace, name: "shared" };
        await backUp(own, {
          clusterRef: { name: one.name },
          storageType: "S3",
          s3: bucket().at(path),
          backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 1 },
        });
        await untilTaken(own);
      }
      assert.equal((await bucket().keys(path)).length, 2);
      const ours = await kube.get(EtcdBackup, { namespace: cluster.namespace, name: "shared" });

      // The newest at the path is theirs.
      const before = new Date(Date.now() + 60_000).toISOString();
      const byPath = { backupStorageType: "S3", s3: bucket().at(path), before } as const;
      await restore(cluster.key, { etcdCluster: { name: cluster.name }, ...byPath });
      assert.match(await untilRefused(cluster.key), /different etcd clusters/);
      await kube.delete(EtcdRestore, cluster.key);
      await restore(cluster.key, { etcdCluster: { name: cluster.name }, backup: { name: "shared" } });
      const { status } = await untilRestored(cluster.key);
      assert.equal(status?.backup?.path, ours.status?.lastBackup?.path);
      const { leader } = await cluster.untilHealthy();
      const found = await leader.etcd.get("/whose", {}, patiently);
      assert.equal(Buffer.from(found?.value ?? "").toString(), "ours");
      await kube.delete(EtcdCluster, other.key);
    });
  });
}

const untilTaken = (key: Key): Promise<EtcdBackup> =>
  untilBackup(key, "one backup", ({ status }) => status?.succeeded === true);

/** Until nothing of it is left. */
async function lose(cluster: TestCluster): Promise<void> {
  await kube.delete(EtcdCluster, cluster.key);
  await waitFor("its pods to be gone", async () => ((await cluster.pods()).length === 0 ? true : undefined), {
    timeoutMs: patience,
  });
}
