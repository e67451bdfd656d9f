// updateStrategy OnDelete: the person says when a member is replaced, by deleting its pod.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deletePods } from "../../e2e/support/disruptions.ts";
import { followers } from "../../e2e/support/healthy.ts";
import { lane } from "../../e2e/support/lane.ts";
import { eachHas, type MemberProcess, processOf } from "../../e2e/support/member-process.ts";
import { QuorumWatch } from "../../e2e/proofs/quorum-watch.ts";
import { onlyReplaced, sameProcesses } from "../../e2e/proofs/replaced.ts";
import { untilRolled } from "../../e2e/proofs/rolled.ts";
import { conditionOf } from "../../e2e/support/status.ts";
import { matrixTest } from "../../support/matrix.ts";

export function onDelete(): void {
  describe("updateStrategy OnDelete", { concurrency: 1 }, () => {
    const on = lane("on-delete", { size: 3 });
    const isNew = ({ args }: MemberProcess): boolean => args.includes("--snapshot-count=5000");

    test("no member is replaced until its pod is deleted; then the new one has the settings", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await cluster.edit({ updateStrategy: "OnDelete", etcd: { snapshotCount: 5_000 } });
      await cluster.until("Ready is UpdateOnDelete", (seen) => conditionOf(seen, "Ready")?.reason === "UpdateOnDelete");
      await writer.progress(100);
      sameProcesses(before, await cluster.untilMembersHealthy());
      const [victim] = followers(before);
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      const after = await cluster.untilMembersHealthy({ without: [victim.name] });
      onlyReplaced(before, after, victim.name);
      for (const { name } of after.members) {
        const isFresh = !before.members.some((member) => member.name === name);
        assert.equal(isNew(await processOf(cluster, name)), isFresh, name);
      }
      await cluster.until("one member is updated", ({ status }) => status?.updatedMembers === 1);
      await writer.progress(100);
      onlyReplaced(after, await cluster.untilMembersHealthy());
      await writer.nothingIsLost();
    });

    // The simulated histories have it; classes.ts of test/e2e-volumes has it on the lab.
    matrixTest("with RollingUpdate again, the others are replaced", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilMembersHealthy();
      const kept: string[] = [];
      for (const { name } of before.members) if (isNew(await processOf(cluster, name))) kept.push(name);
      assert.equal(kept.length, 1);
      await using quorum = new QuorumWatch(cluster, { fewest: 3 });
      await cluster.edit({ updateStrategy: "RollingUpdate" });
      const after = await untilRolled(cluster);
      onlyReplaced(before, after, ...before.members.map(({ name }) => name).filter((name) => !kept.includes(name)));
      await eachHas(cluster, after, (_pod, process) => assert.ok(isNew(process)));
      await writer.nothingIsLost();
      await quorum.alwaysQuorum();
    });
  });
}
