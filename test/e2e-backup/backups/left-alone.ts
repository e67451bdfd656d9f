// Restores in place whose EtcdRestore does not stay: it is deleted half way, and brought back without its status. And what
// old watchers hear when the data of one cluster has been replaced twice.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { run } from "../../../lab/machine/command.ts";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdRestore } from "../../../src/api/etcd-restore/etcd-restore.ts";
import { kube, patience, patiently } from "../../e2e/support/environment.ts";
import { lane } from "../../e2e/support/lane.ts";
import type { Bucket } from "../support/bucket.ts";
import { backUp, restore, untilBackedUp, untilRestore, untilRestored } from "../support/objects.ts";

export function leftAlone(bucket: () => Bucket): void {
  describe("a restore in place that is left alone", { concurrency: 1 }, () => {
    const on = lane("left-alone", { size: 1 }, (namespace) => bucket().open(namespace));
    const spec = () => ({ etcdCluster: { name: on().cluster.name }, backup: { name: "saved" } });
    let written: ReadonlyMap<string, string> = new Map();
    let command = "";

    test("half way, is finished by the cluster, which says where the data is that was replaced", async () => {
      const { cluster, writer, first } = on();
      const { namespace, name } = cluster;
      await writer.progress(20);
      written = writer.soFar();
      const store = { storageType: "S3", s3: bucket().at(`${namespace}/saved`) } as const;
      await backUp({ namespace, name: "saved" }, { clusterRef: { name }, ...store });
      await untilBackedUp({ namespace, name: "saved" });
      await writer.progress(10);
      await restore(cluster.key, spec());
      const begun = async () => (await cluster.get()).status?.restore;
      await waitFor("the members to be stopped", begun, { timeoutMs: patience, everyMs: 50 });
      await kube.delete(EtcdRestore, cluster.key);
      const { status } = await cluster.until("to be restored", (seen) => seen.status?.restore?.phase === "Done");
      const after = await cluster.untilHealthy();
      assert.notEqual(after.clusterId, first.clusterId);
      assert.deepEqual(await writer.missing(written), []);
      const { snapshotPath = "", plan } = status?.restore ?? {};
      assert.equal(plan, undefined);
      const keys = await bucket().keys(`${namespace}/saved.before-`);
      assert.ok(
        keys.some((key) => snapshotPath.endsWith(key)),
        `${snapshotPath || "nothing"} is none of ${keys.join(", ")}`,
      );
    });

    test("and brought back without its status over newer data, waits for a person", async () => {
      const { cluster, writer } = on();
      const known = writer.soFar();
      await writer.progress(20);
      const newer = new Map([...writer.soFar()].filter(([key]) => !known.has(key)));
      const { clusterId } = await cluster.untilHealthy();
      await restore(cluster.key, spec());
      const { status } = await untilRestore(cluster.key, "to wait", (seen) =>
        (seen.status?.message ?? "").includes("To replace it again"),
      );
      assert.match(status?.message ?? "", /was replaced by the backup .*saved before\. Nothing was touched/);
      assert.equal((await cluster.untilHealthy()).clusterId, clusterId);
      assert.deepEqual(await writer.missing(newer), []);
      command = /: (kubectl annotate .*)$/.exec(status?.message ?? "")?.[1] ?? "";
    });

    test("a second one that a person has asked for moves revisions only forward, and tells an old watcher", async () => {
      const { cluster, writer } = on();
      const { namespace } = cluster;
      const before = await cluster.untilHealthy();
      await writer.stop();
      const { revision: highest } = await before.leader.etcd.status(patiently);
      await run("sh", ["-c", command]);
      await untilRestored(cluster.key);
      const { leader, clusterId } = await cluster.untilHealthy();
      assert.notEqual(clusterId, before.clusterId);
      assert.deepEqual(await writer.missing(written), []);
      const { revision } = await leader.etcd.status(patiently);
      assert.ok(revision > highest, `${revision} after ${highest}`);
      // It has seen everything up to the highest revision, and asks for what comes next.
      const watch = ["etcdctl", "watch", "--prefix", writer.prefix, `--rev=${highest + 1}`];
      const signal = AbortSignal.timeout(patience);
      await assert.rejects(
        run("kubectl", ["exec", `--namespace=${namespace}`, leader.name, "--", ...watch], { signal }),
        /compacted/,
      );
    });
  });
}
