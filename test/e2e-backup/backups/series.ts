// A series of backups: one every few seconds, the newest kept, verified, at once when asked for, and ended with its object.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { backupNowAnnotation, EtcdBackup } from "../../../src/api/etcd-backup/etcd-backup.ts";
import { Pod } from "../../../src/kube/objects/kinds.ts";
import { waitFor } from "../../../lab/progress.ts";
import { run } from "../../../lab/machine/command.ts";
import { kube, patience, restrictedNamespace } from "../../e2e/support/environment.ts";
import { lane } from "../../e2e/support/lane.ts";
import { type Bucket, startBucket } from "../support/bucket.ts";
import { backUp, untilBackedUp, untilBackup } from "../support/objects.ts";

export function series(): void {
  describe("a series of backups", { concurrency: 1 }, () => {
    // Its own: the server is killed here.
    let started: Bucket | undefined;
    const bucket = (): Bucket => {
      if (started === undefined) throw new Error("the bucket has not been started");
      return started;
    };
    const on = lane("series", { size: 1 }, async (namespace) => {
      started = await startBucket();
      await started.open(namespace);
    });
    const path = (): string => `${on().cluster.namespace}/series`;
    const key = () => ({ namespace: on().cluster.namespace, name: "series" });
    const kept = (): Promise<string[]> => bucket().keys(path());

    test("keeps the newest of them, while revisions get more digits and another series begins with its name", async () => {
      const { cluster } = on();
      const other = { namespace: cluster.namespace, name: "other" };
      const store = { storageType: "S3", clusterRef: { name: cluster.name } } as const;
      await backUp(other, { ...store, s3: bucket().at(`${path()}_v1_of-somebody-else`) });
      await backUp(key(), {
        ...store,
        s3: bucket().at(path()),
        backupPolicy: { backupIntervalInSecond: 3, maxBackups: 2 },
      });
      await untilBackup(other, "to succeed", ({ status }) => status?.succeeded === true);
      await untilBackup(key(), "five runs", (backup) => (backup.status?.history ?? []).length >= 5);
      // What is kept and what is said of it would change while it is compared.
      await kube.mergePatch(EtcdBackup, key(), { spec: { backupPolicy: { suspend: true } } });
      const { status } = await untilBackup(key(), "to be suspended", (seen) => seen.status?.phase === "Suspended");
      assert.equal(status?.backups, 2);
      assert.ok(status?.history?.every(({ result }) => result === "Succeeded"));
      const keys = (await kept()).filter((one) => !one.endsWith("somebody-else"));
      assert.ok(keys.length <= 3, keys.join(", "));
      assert.ok(
        (await kept()).some((one) => one.endsWith("somebody-else")),
        "objects of others stay",
      );
      assert.ok(
        keys.some((one) => status?.lastBackup?.path?.endsWith(one)),
        `${status?.lastBackup?.path} is kept`,
      );
    });

    test("rests while it is suspended, and begins at once when asked for", async () => {
      const { status } = await untilBackup(key(), "to be suspended", (seen) => seen.status?.phase === "Suspended");
      const before = status?.lastBackup?.path;
      await kube.mergePatch(EtcdBackup, key(), { metadata: { annotations: { [backupNowAnnotation]: "please" } } });
      const after = await untilBackup(key(), "another backup", (seen) => seen.status?.lastBackup?.path !== before);
      assert.equal(after.status?.history?.[0]?.trigger, "Annotation");
    });

    test("goes on when the server was away, and when a worker was killed", async () => {
      await bucket().server.kill();
      await kube.mergePatch(EtcdBackup, key(), { spec: { backupPolicy: { suspend: false } } });
      const failing = await untilBackup(key(), "a failure", ({ status }) => (status?.failures ?? 0) > 0);
      assert.match(failing.status?.Reason ?? "", /s3:\/\/backups: .*nothing listens at the endpoint/);
      await bucket().server.revive();
      await untilBackup(key(), "to succeed again", ({ status }) => status?.succeeded === true && !status.Reason);
      const pod = await waitFor("a worker", aWorker, { timeoutMs: patience, everyMs: 20 });
      await kube.delete(Pod, pod, { gracePeriodSeconds: 0 }).catch(() => undefined);
      const { status } = await kube.get(EtcdBackup, key());
      const before = status?.lastBackup?.path;
      await untilBackup(key(), "another backup", (seen) => seen.status?.lastBackup?.path !== before);
    });

    test("ends with its EtcdBackup, and leaves what it has taken", async () => {
      const before = await kept();
      await kube.delete(EtcdBackup, key());
      await waitFor("no worker", async () => ((await aWorker()) === undefined ? true : undefined), {
        timeoutMs: patience,
      });
      assert.ok((await kept()).length >= Math.min(2, before.length));
    });

    test("takes its backups along when it is deleted, where that is asked for", async () => {
      const { cluster } = on();
      const name = "leaves-nothing";
      const mine = { namespace: cluster.namespace, name };
      await backUp(mine, {
        storageType: "S3",
        clusterRef: { name: cluster.name },
        s3: bucket().at(`${cluster.namespace}/${name}`),
        deletionPolicy: "Delete",
      });
      await untilBackup(mine, "to succeed", ({ status }) => status?.succeeded === true);
      assert.equal((await bucket().keys(`${cluster.namespace}/${name}`)).length, 1);
      await kube.delete(EtcdBackup, mine);
      const gone = async (): Promise<true | undefined> =>
        (await bucket().keys(`${cluster.namespace}/${name}`)).length === 0 ? true : undefined;
      await waitFor("its object to be gone", gone, { timeoutMs: patience });
    });

    test("does not hold up a namespace that is deleted: its backups stay", async () => {
      const { cluster } = on();
      const namespace = await restrictedNamespace("leaving");
      await bucket().open(namespace);
      const mine = { namespace, name: "left-behind" };
      await backUp(mine, {
        storageType: "S3",
        etcdEndpoints: [`http://${cluster.name}-client.${cluster.namespace}.svc:2379`],
        s3: bucket().at(`${namespace}/left-behind`),
        deletionPolicy: "Delete",
      });
      const { metadata } = await untilBackedUp(mine);
      assert.deepEqual(metadata?.finalizers, ["etcd.database.coreos.com/delete-backups"]);
      await run("kubectl", ["delete", "namespace", namespace, "--timeout=300s"]);
      assert.equal((await bucket().keys(`${namespace}/left-behind`)).length, 1);
    });

    async function aWorker() {
      const { namespace } = key();
      const { items } = await kube.list(Pod, { namespace, labelSelector: "etcd_backup=series" });
      const running = items.find((pod) => pod.status?.phase === "Pending" || pod.status?.phase === "Running");
      return running && { namespace, name: running.metadata?.name ?? "" };
    }
  });
}
