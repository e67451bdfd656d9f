// The condition DiskPressure: it says that the quota does not go with the volume, and that the database is nearly full,
// while there is still time.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { slowDisk } from "../../../lab/faults/throttle.ts";
import { fastDisk } from "../../../lab/faults/undo.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { lane } from "../../e2e/support/lane.ts";
import { untilRolled } from "../../e2e/proofs/rolled.ts";
import { conditionOf } from "../../e2e/support/status.ts";
import { onVolumes } from "../support/volumes.ts";
import { lab, patiently } from "../../e2e/support/environment.ts";

const megabyte = 2 ** 20;
/** The file counts, and it grows by 16 MiB at a time: 38 MiB are left when it is reported. */
const quota = 256 * megabyte;
const nearlyFull = 0.85 * quota;
/** Six failures, 10 s apart, and the time-out of the last. */
const longerThanLivenessMs = 80_000;

export function pressure(): void {
  describe("disk pressure", { concurrency: 1 }, () => {
    // What etcd takes by itself; without it the operator chooses a quota that fits.
    const on = lane("pressed", { size: 1, pod: onVolumes("1Gi"), etcd: { quotaBackendBytes: 2048 * megabyte } });

    test("a quota for which the volume has no room is reported, with what to set, and is no reason not to be Ready", async () => {
      const { cluster } = on();
      const message = await untilPressure(cluster, "QuotaTooLarge");
      const [, most] = /Lower spec\.etcd\.quotaBackendBytes to at most (\d+)/.exec(message) ?? [];
      assert.ok(most, message);
      await cluster.untilHealthy();
      await cluster.untilEvent("Disk Pressure");
      await cluster.edit({ etcd: { quotaBackendBytes: Number(most) } });
      await untilRolled(cluster);
      await untilNoPressure(cluster);
    });

    test("a defragmentation that takes longer than a minute ends no member", async () => {
      const { cluster } = on();
      const { leader, members } = await cluster.untilHealthy();
      const keys = Array.from({ length: 100 }, (_, n) => `/bulk/${n}`);
      for (const key of keys) await leader.etcd.put(key, new Uint8Array(megabyte), patiently);
      const pod = `${cluster.namespace}/${leader.name}`;
      await slowDisk(lab, pod, 1);
      let isOver = false;
      const defragmented = leader.etcd.defragment().finally(() => {
        isOver = true;
      });
      try {
        // A kubelet restarts a container whose liveness probe fails for a minute.
        await setTimeout(longerThanLivenessMs);
        assert.equal(isOver, false, "it was over before a kubelet could have ended it");
      } finally {
        await fastDisk(lab, pod);
      }
      await defragmented;
      for (const key of keys) await leader.etcd.delete(key, patiently);
      const after = await cluster.untilHealthy();
      const states = (list: typeof members) => list.map(({ name, uid, restarts }) => ({ name, uid, restarts }));
      assert.deepEqual(states(after.members), states(members));
    });

    test("a database that comes near its quota is reported before it is full, and no more when there is room again", async () => {
      const { cluster, writer } = on();
      await cluster.edit({ etcd: { quotaBackendBytes: quota } });
      const { leader } = await untilRolled(cluster);
      const value = new Uint8Array(megabyte);
      const keys: string[] = [];
      while ((await leader.etcd.status(patiently)).dbSize < nearlyFull && keys.length < quota / megabyte) {
        keys.push(`/large/${keys.length}`);
        await leader.etcd.put(keys.at(-1) ?? "", value, patiently);
      }
      const message = await untilPressure(cluster, "DatabaseNearQuota");
      assert.match(
        message,
        /of 256 MiB, .*delete keys, compact and defragment, or raise spec\.etcd\.quotaBackendBytes/,
      );
      await writer.nothingIsLost();
      for (const key of keys) await leader.etcd.delete(key, patiently);
      await leader.etcd.compact((await leader.etcd.status(patiently)).revision);
      await leader.etcd.defragment();
      await untilNoPressure(cluster);
      await writer.nothingIsLost();
    });
  });
}

async function untilPressure(cluster: TestCluster, reason: string): Promise<string> {
  const seen = await cluster.until(`DiskPressure is ${reason}`, (object) => {
    const condition = conditionOf(object, "DiskPressure");
    return condition?.status === "True" && condition.reason === reason;
  });
  return conditionOf(seen, "DiskPressure")?.message ?? "";
}

async function untilNoPressure(cluster: TestCluster): Promise<void> {
  await cluster.until("no DiskPressure", (object) => conditionOf(object, "DiskPressure")?.status === "False");
}
