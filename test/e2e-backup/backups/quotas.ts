// A restore in place in a namespace with quotas: what will not be admitted is said before anything is stopped, and members
// that go make room for the one that comes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { onVolumes, claimNames, claimsOf } from "../../e2e-volumes/support/volumes.ts";
import { lane } from "../../e2e/support/lane.ts";
import { untilQuota } from "../../e2e/support/quota.ts";
import { kubectl } from "../../support/kubectl.ts";
import type { Bucket } from "../support/bucket.ts";
import { backUp, restore, untilBackedUp, untilRestore, untilRestored } from "../support/objects.ts";

const member = { requests: { cpu: "50m" } };
const worker = { resources: { requests: { cpu: "20m" } } };

export function quotas(bucket: () => Bucket): void {
  describe("a restore in place under quotas", { concurrency: 1 }, () => {
    const spec = { size: 1, pod: { ...onVolumes(), resources: member } };
    const on = lane("quota", spec, (namespace) => bucket().open(namespace));
    let written: ReadonlyMap<string, string> = new Map();

    test("stops nothing while the volume of the first member would be refused, and says which quota forbids it", async () => {
      const { cluster, writer, first } = on();
      const { namespace, name } = cluster;
      // A member and a worker beside it; two members are too much, and so is a second volume.
      await untilQuota(namespace, "exact", "requests.cpu=70m,persistentvolumeclaims=1");
      await writer.progress(20);
      written = writer.soFar();
      const store = { storageType: "S3", s3: bucket().at(`${namespace}/saved`) } as const;
      await backUp({ namespace, name: "saved" }, { clusterRef: { name }, ...store, worker });
      await untilBackedUp({ namespace, name: "saved" });
      await restore(cluster.key, { etcdCluster: { name }, backup: { name: "saved" } });
      // The quota may count the worker of the backup for a moment after its end, and then holds up that of the check.
      const { status } = await untilRestore(cluster.key, "to be refused", (seen) =>
        /the claim of the first member is refused/.test(seen.status?.message ?? ""),
      );
      assert.match(status?.message ?? "", /exceeded quota: exact.*persistentvolumeclaims.*Nothing was touched/);
      await writer.progress(10);
      const [pod] = await cluster.pods();
      assert.equal(pod?.metadata?.uid, first.leader.uid);
      assert.equal(pod.metadata.deletionTimestamp, undefined);
      assert.equal((await cluster.get()).status?.clusterId, first.clusterId);
    });

    test("goes on where everything fits exactly, once the member that serves is gone", async () => {
      const { cluster, writer, first } = on();
      const { namespace } = cluster;
      const hard = { "requests.cpu": "70m", persistentvolumeclaims: "2" };
      const patch = JSON.stringify({ spec: { hard } });
      await kubectl("patch", "quota", "exact", `--namespace=${namespace}`, "--type=merge", `--patch=${patch}`);
      const { status } = await untilRestored(cluster.key);
      const after = await cluster.untilHealthy();
      assert.notEqual(after.clusterId, first.clusterId);
      assert.deepEqual(await writer.missing(written), []);
      const { current, retired } = claimNames(await claimsOf(cluster));
      assert.deepEqual([current.length, retired.length], [1, 1]);
      assert.deepEqual(retired, [status?.keptVolumes]);
    });
  });
}
