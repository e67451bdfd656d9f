// An operator with -chaos-level kills members of its clusters, one at a time, and heals them. Kills are half a minute apart,
// so this runs in parallel with the other operator tests.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { createCluster } from "../support/cluster.ts";
import { kube, patience, restrictedNamespace } from "../support/environment.ts";
import { deleteLeases, OperatorProcess } from "../support/operator-process.ts";
import { onlyReplaced } from "../proofs/replaced.ts";
import { Writer } from "../proofs/writer.ts";

export function chaosLevel(): void {
  describe("chaos level", () => {
    test("with -chaos-level=1 a member is killed now and then, the cluster heals, and nothing is lost", async () => {
      const namespace = await restrictedNamespace("chaos");
      const killed: string[] = [];
      const onLine = (line: string): void => {
        const pod = /killed by chaos.*"pod":"[^/]*\/(?<pod>[^"]*)"/.exec(line)?.groups?.["pod"];
        if (pod !== undefined) killed.push(pod);
      };
      // Made without chaos: on a busy machine the first kill would come before all members are there.
      const maker = new OperatorProcess({ namespace });
      const cluster = await createCluster({ namespace, name: "chaos" }, { size: 3 });
      const before = await maker.during(cluster.untilHealthy());
      await maker.kill();
      await deleteLeases(namespace);
      const operator = new OperatorProcess({
        namespace,
        flags: ["-chaos-level=1"],
        preload: "deterministic-chaos.ts",
        onLine,
      });
      const writer = new Writer(cluster);
      try {
        const firstKilled = waitFor("a member to be killed", async () => killed[0], { timeoutMs: patience });
        const victim = await operator.during(firstKilled);
        assert.ok(
          before.members.some(({ name }) => name === victim),
          `${victim} was killed`,
        );
        const after = await operator.during(cluster.untilHealthy({ without: [victim] }));
        onlyReplaced(before, after, victim);
        await writer.nothingIsLost();
      } finally {
        await writer.stop();
      }
      await operator.kill();
      await kube.delete(EtcdCluster, cluster.key);
    });
  });
}
