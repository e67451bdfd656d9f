// Nodes with volumes lose power: all at once, with and without their pods, and one for good. This affects the whole lab, so
// it runs alone.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { labNodes } from "../../lab/config.ts";
import { powerOff } from "../../lab/faults/power.ts";
import { heal, powerOn } from "../../lab/faults/undo.ts";
import { lab } from "../e2e/support/environment.ts";
import { IdentityWatch } from "../e2e/proofs/identity-watch.ts";
import { untilReported } from "../e2e/support/member-process.ts";
import { nodesReady } from "../e2e/support/nodes.ts";
import { onlyReplaced } from "../e2e/proofs/replaced.ts";
import { root } from "../suites.ts";
import { kubectl } from "../support/kubectl.ts";
import { isMatrix, type Row, rowsOf } from "../support/matrix.ts";
import { KeptClusters } from "./support/kept-clusters.ts";
import { beganOnce } from "./support/returned.ts";
import { claimNames, claimsOf, untilClaims } from "./support/volumes.ts";

interface Loss extends Row {
  readonly what: string;
  readonly lose: (node: string) => Promise<unknown>;
}

const losses: readonly Loss[] = [
  { what: "a node is gone for good", lose: (node) => powerOff(lab, node) },
  {
    // Before Kubernetes has noticed anything: nobody ever reports that node as unreachable.
    what: "a node is gone for good and its Node object is deleted",
    onlyInMatrix: true,
    lose: async (node) => {
      await powerOff(lab, node);
      await kubectl("delete", "node", node);
    },
  },
];

describe("power", () => {
  let kept: KeptClusters;
  before(async () => {
    await kubectl("apply", "--server-side", "--filename", `${root}/example/crd/etcdcluster.yaml`);
    kept = await KeptClusters.create("power");
  });
  after(async () => {
    await heal(lab);
    await kept?.stop();
  });

  const cutAll = (): Promise<unknown> => Promise.all(labNodes(lab).map(({ name }) => powerOff(lab, name)));
  const restoreAll = async (): Promise<void> => {
    for (const { name } of labNodes(lab)) await powerOn(lab, name);
    await nodesReady();
  };

  test("when all nodes lose power while no operator runs, every cluster comes back: same members, every key", async () => {
    await kept.withoutOperator(async () => {
      await cutAll();
      await restoreAll();
    });
    await kept.allReturn();
  });

  const besides = "when all pods are deleted besides, they are made again on their volumes";
  // All pods deleted, and all nodes off, are each a test of the sample.
  for (const name of isMatrix ? [besides] : [])
    test(name, async () => {
      await kept.withoutOperator(async () => {
        await cutAll();
        await kubectl("delete", "pods", "--all", `--namespace=${kept.namespace}`, "--force", "--grace-period=0");
        await restoreAll();
      });
      await kept.allReturn();
    });

  for (const { what, lose } of rowsOf(losses))
    test(`when ${what}, its member is replaced elsewhere with a new volume, and the old one is kept`, async () => {
      const { cluster, writer } = kept.current;
      await cluster.edit({ failover: { unreachableAfterSeconds: 5 } });
      // Those of the last power cut.
      await kept.during(untilReported(cluster));
      const before = await kept.during(cluster.untilHealthy());
      const { retired } = claimNames(await claimsOf(cluster));
      const [victim] = before.members;
      assert.ok(victim);
      await using watch = new IdentityWatch(cluster, before.clusterId);
      await lose(victim.node);
      const after = await kept.during(watch.during(cluster.untilHealthy({ without: [victim.name] })));
      onlyReplaced(before, after, victim.name);
      assert.ok(after.members.every(({ node }) => node !== victim.node));
      for (const { name, restarts } of before.members.filter(({ name }) => name !== victim.name))
        assert.equal(after.members.find((member) => member.name === name)?.restarts, restarts, name);
      await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(`${victim.node} is gone`) ?? false);
      const current = after.members.map(({ name }) => name);
      await untilClaims(cluster, { current, retired: [...retired, victim.name] });
      await writer.nothingIsLost();
      await powerOn(lab, victim.node);
      await nodesReady();
      await writer.progress(50);
      onlyReplaced(after, await kept.during(cluster.untilHealthy()));
      await untilClaims(cluster, { current, retired: [...retired, victim.name] });
      await writer.nothingIsLost();
      await beganOnce(cluster);
      await watch.neverViolated();
    });
});
