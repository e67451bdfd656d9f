// Volumes that are asked to be larger grow under a cluster that serves; ones that are asked to be smaller do not, and that
// harms nothing else.
import assert from "node:assert/strict";
import { statfs } from "node:fs/promises";
import { describe, test } from "node:test";
import { containerOf, findPod } from "../../../lab/nodes/pods.ts";
import { waitFor } from "../../../lab/progress.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { deletePods, wipeData } from "../../e2e/support/disruptions.ts";
import { lab, patience } from "../../e2e/support/environment.ts";
import { followers } from "../../e2e/support/healthy.ts";
import { lane } from "../../e2e/support/lane.ts";
import { QuorumWatch } from "../../e2e/proofs/quorum-watch.ts";
import { onlyReplaced, sameProcesses } from "../../e2e/proofs/replaced.ts";
import { conditionOf } from "../../e2e/support/status.ts";
import { untilReturnedMembers, onlyReturned } from "../support/returned.ts";
import { nameOf, onVolumes, untilEachClaim } from "../support/volumes.ts";

const gigabyte = 2 ** 30;

export function growth(): void {
  describe("volumes of another size", { concurrency: 1 }, () => {
    const on = lane("grown", { size: 3, pod: onVolumes("1Gi") });

    test("a larger request grows every volume and its file system under the running members", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await using quorum = new QuorumWatch(cluster, { fewest: 3 });
      for (const { name } of before.members) assert.ok((await fileSystemOf(cluster, name)) < gigabyte);
      await cluster.edit({ pod: onVolumes("2Gi") });
      await cluster.untilEvent("Volume Grows");
      await untilEachClaim(cluster, "claims of 2Gi", (claims) =>
        claims.every(({ status }) => status?.capacity?.["storage"] === "2Gi"),
      );
      for (const { name } of before.members)
        await waitFor(
          `a file system of 2Gi in ${name}`,
          async () => (await fileSystemOf(cluster, name)) > 1.9 * gigabyte || undefined,
          { timeoutMs: patience },
        );
      await cluster.until("the status says so", ({ status }) => status?.volumeSize === 2 * gigabyte);
      sameProcesses(before, await cluster.untilHealthy());
      await writer.nothingIsLost();
      await quorum.alwaysQuorum();
    });

    test("a smaller request is refused with a sentence, and lost pods and lost volumes are still healed", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await cluster.edit({ pod: onVolumes("1Gi") });
      const reported = await cluster.until(
        "Ready is InvalidSpec",
        (seen) => conditionOf(seen, "Ready")?.reason === "InvalidSpec",
      );
      assert.match(
        conditionOf(reported, "Ready")?.message ?? "",
        /resources\.requests\.storage is 1Gi, and there are volumes of 2Gi: volumes do not shrink\. Set it to at least that\./,
      );
      await writer.progress(50);
      sameProcesses(before, await cluster.untilMembersHealthy());

      const [deleted, wiped] = followers(before);
      assert.ok(deleted && wiped);
      await deletePods(cluster, deleted.name);
      const back = await untilReturnedMembers(cluster, before, deleted.name);
      onlyReturned(before, back, deleted.name);

      await wipeData(cluster, wiped.name);
      const healed = await cluster.untilMembersHealthy({ without: [wiped.name] });
      onlyReplaced(back, healed, wiped.name);
      await writer.nothingIsLost();

      await cluster.edit({ pod: onVolumes("2Gi") });
      sameProcesses(healed, await cluster.untilHealthy());
      const names = new Set(healed.members.map(({ name }) => name));
      await untilEachClaim(cluster, "requests of 2Gi", (claims) =>
        claims
          .filter((claim) => names.has(nameOf(claim)))
          .every(({ spec }) => spec?.resources?.requests?.["storage"] === "2Gi"),
      );
      await writer.nothingIsLost();
    });
  });
}

/** Its size in bytes, as the member's process sees it. */
async function fileSystemOf({ namespace }: TestCluster, name: string): Promise<number> {
  const { pid } = containerOf(await findPod(lab, { namespace, name }), "etcd");
  const { blocks, bsize } = await statfs(`/proc/${pid}/root/var/etcd`);
  return blocks * bsize;
}
