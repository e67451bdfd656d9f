// All members of a cluster without volumes are deleted while a client writes and a backup is taken every ten seconds: what
// was acknowledged before the last backup is there after the restore.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { run } from "../../../lab/machine/command.ts";
import { EtcdBackup } from "../../../src/api/etcd-backup/etcd-backup.ts";
import { kube } from "../../e2e/support/environment.ts";
import { lane } from "../../e2e/support/lane.ts";
import type { Bucket } from "../support/bucket.ts";
import { backUp, restore, untilBackup, untilRestored } from "../support/objects.ts";

export function disaster(bucket: () => Bucket): void {
  describe("a disaster", { concurrency: 1 }, () => {
    const on = lane("disaster", { size: 3 }, (namespace) => bucket().open(namespace));

    test("costs what was written after the last backup, and nothing before it", async (context) => {
      const { cluster, writer, first } = on();
      const { namespace, name } = cluster;
      const key = { namespace, name: "often" };
      await backUp(key, {
        clusterRef: { name },
        storageType: "S3",
        s3: bucket().at(`${namespace}/often`),
        backupPolicy: { backupIntervalInSecond: 10, maxBackups: 3 },
      });
      // What is acknowledged before a run begins is in its backup.
      const written = await writtenBeforeNextRun();
      await run("kubectl", ["delete", "pods", `--namespace=${namespace}`, `--selector=etcd_cluster=${name}`, "--now"]);
      const died = Date.now();
      await writer.stop();
      await restore(cluster.key, { etcdCluster: { name }, backup: { name: key.name } });
      const { status } = await untilRestored(cluster.key);
      const after = await cluster.untilHealthy();
      assert.notEqual(after.clusterId, first.clusterId);
      assert.deepEqual(await writer.missing(written), []);
      // The figures of docs/backups.md come from here.
      context.diagnostic(
        `restored ${written.size} keys; ${(Date.now() - died) / 1000} s from the loss to three members`,
      );
      assert.ok(status?.backup?.revision);
      // Backups of the restored cluster go on by themselves.
      const { status: before } = await kube.get(EtcdBackup, key);
      await untilBackup(key, "another backup", (seen) => seen.status?.lastBackup?.path !== before?.lastBackup?.path);

      async function writtenBeforeNextRun(): Promise<ReadonlyMap<string, string>> {
        await untilBackup(key, "two backups", ({ status }) => (status?.history ?? []).length >= 2);
        const sofar = writer.soFar();
        const { status } = await kube.get(EtcdBackup, key);
        const runs = new Set(status?.history?.map(({ id }) => id));
        const isAnother = ({ id, startedAt = "" }: { id: string; startedAt?: string }): boolean =>
          !runs.has(id) && id !== status?.run?.id && startedAt !== "";
        await untilBackup(key, "another run", (seen) => seen.status?.history?.some(isAnother) === true);
        return sofar;
      }
    });
  });
}
