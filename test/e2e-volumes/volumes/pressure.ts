// The condition DiskPressure: it says that the quota does not go with the volume, and that the database is nearly full,
// while there is still time.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { lane } from "../../e2e/support/lane.ts";
import { untilRolled } from "../../e2e/support/rolled.ts";
import { conditionOf } from "../../e2e/support/status.ts";
import { onVolumes } from "../support/volumes.ts";

const megabyte = 2 ** 20;
/**
 * The quota counts the file, which is up to 16 MiB larger than what is in it: at 105 MiB, more than 80 %, it has at most
 * 121, and is still below the quota.
 */
const quota = 128 * megabyte;
const nearlyFull = 105;

export function pressure(): void {
  describe("disk pressure", { concurrency: 1 }, () => {
    const on = lane("pressed", { size: 1, pod: onVolumes("1Gi") });

    test("a quota for which the volume has no room is told, with what to set, and is no reason not to be Ready", async () => {
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

    test("a database that comes near its quota is told before it is full, and no more when there is room again", async () => {
      const { cluster, writer } = on();
      await cluster.edit({ etcd: { quotaBackendBytes: quota } });
      const { leader } = await untilRolled(cluster);
      const value = new Uint8Array(megabyte);
      const keys = Array.from({ length: nearlyFull }, (_, number) => `/large/${number}`);
      for (const key of keys) await leader.etcd.put(key, value);
      const message = await untilPressure(cluster, "DatabaseNearQuota");
      assert.match(message, /of 134217728 bytes.*delete keys and compact, or raise spec\.etcd\.quotaBackendBytes/);
      await writer.nothingIsLost();
      for (const key of keys) await leader.etcd.delete(key);
      await leader.etcd.compact((await leader.etcd.status()).revision);
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
