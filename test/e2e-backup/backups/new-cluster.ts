// A backup restored beside the cluster that it was taken of, at a moment of the past, with the etcd of today.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TestCluster } from "../../e2e/support/cluster.ts";
import { memberAt } from "../../e2e/support/healthy.ts";
import { lane } from "../../e2e/support/lane.ts";
import type { Bucket } from "../support/bucket.ts";
import { backUp, restore, untilBackup, untilRestored } from "../support/objects.ts";
import { patiently } from "../../e2e/support/environment.ts";

export function newCluster(bucket: () => Bucket): void {
  describe("a restore into a new cluster", { concurrency: 1 }, () => {
    const on = lane("origin", { size: 1, version: "3.5.35" }, (namespace) => bucket().open(namespace));
    const copy = (): TestCluster => new TestCluster({ namespace: on().cluster.namespace, name: "copy" });

    test("takes the newest backup before a time, in a newer etcd, and leaves the old cluster alone", async () => {
      const { cluster, writer, first } = on();
      const { namespace } = cluster;
      const key = { namespace, name: "hourly" };
      await writer.progress(10);
      const early = writer.soFar();
      await backUp(key, {
        clusterRef: { name: cluster.name },
        storageType: "S3",
        s3: bucket().at(`${namespace}/hourly`),
        backupPolicy: { backupIntervalInSecond: 5 },
      });
      const one = await untilBackup(key, "one backup", ({ status }) => status?.succeeded === true);
      // The next one begins five seconds later at the earliest.
      const moment = new Date(Date.parse(one.status?.lastBackup?.takenAt ?? "") + 1000).toISOString();
      await writer.progress(10);
      const late = [...writer.soFar().keys()].at(-1) ?? "";
      await untilBackup(key, "three backups", ({ status }) => (status?.history ?? []).length >= 3);
      await restore(
        { namespace, name: "to-copy" },
        {
          etcdCluster: { name: "copy" },
          backup: { name: key.name },
          before: moment,
          clusterSpec: { size: 3, version: "3.6.16" },
        },
      );
      const { status } = await untilRestored({ namespace, name: "to-copy" });
      assert.equal(status?.backup?.path, one.status?.lastBackup?.path);
      const after = await copy().untilHealthy();
      assert.notEqual(after.clusterId, first.clusterId);
      const [pod] = await copy().pods();
      const member = memberAt(pod?.status?.podIP ?? "", undefined);
      const there = new Set((await member.list(writer.prefix, {}, patiently)).keys.map((one) => one.key));
      assert.deepEqual(
        [...early.keys()].filter((written) => !there.has(written)),
        [],
      );
      assert.ok(!there.has(late), "what came later is not in it");
      const { revision } = await member.status(patiently);
      assert.ok(revision < 100_000, `the revision of a new cluster is not raised: ${revision}`);
      await writer.nothingIsLost();
    });
  });
}
