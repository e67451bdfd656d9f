// An operator that is told to practise for disasters: it kills members of its clusters, one at a time, and heals them.
// Half a minute is between two of them, so this runs beside the other tests of operators.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { makeCluster } from "../support/cluster.ts";
import { kube, patience, restrictedNamespace } from "../support/ground.ts";
import { OperatorProcess } from "../support/operator-process.ts";
import { othersStay } from "../support/stay.ts";
import { Writer } from "../support/writer.ts";

export function practising(): void {
  describe("practising", () => {
    test("with -chaos-level=1 a member is killed now and then, the cluster heals, and nothing is lost", async () => {
      const namespace = await restrictedNamespace("practice");
      const killed: string[] = [];
      const onLine = (line: string): void => {
        const pod = /killed by chaos.*"pod":"[^/]*\/(?<pod>[^"]*)"/.exec(line)?.groups?.["pod"];
        if (pod !== undefined) killed.push(pod);
      };
      const operator = new OperatorProcess({
        namespace,
        flags: ["-chaos-level=1"],
        preload: "unkind-fate.ts",
        onLine,
      });
      const cluster = await makeCluster({ namespace, name: "practice" }, { size: 3 });
      const before = await operator.during(cluster.whole());
      const writer = new Writer(cluster);
      try {
        const firstKilled = waitFor("a member to be killed", async () => killed[0], { timeoutMs: patience });
        const victim = await operator.during(firstKilled);
        assert.ok(
          before.members.some(({ name }) => name === victim),
          `${victim} was killed`,
        );
        othersStay(before, await operator.during(cluster.whole({ without: [victim] })), victim);
        await writer.nothingIsLost();
      } finally {
        await writer.stop();
      }
      await operator.kill();
      await kube.delete(EtcdCluster, cluster.key);
    });
  });
}
