// Power: one node that is gone for good, and all of them at once. Everything on the lab suffers, so this runs alone.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { labNodes } from "../../lab/config.ts";
import { pauseContainer } from "../../lab/faults/containers.ts";
import { powerOff } from "../../lab/faults/power.ts";
import { heal, powerOn, resumeContainer } from "../../lab/faults/undo.ts";
import { waitFor } from "../../lab/progress.ts";
import { Node } from "../../src/kube/objects/kinds.ts";
import { clusterwide, makeCluster, type TestCluster } from "./support/cluster.ts";
import { kube, lab, patience, restrictedNamespace } from "./support/ground.ts";
import { installOperator, type Operator } from "./support/operator.ts";
import { conditionOf } from "./support/status.ts";
import { othersStay } from "./support/stay.ts";
import { Writer } from "./support/writer.ts";

describe("nodes", () => {
  let operator: Operator;
  let cluster: TestCluster;
  let writer: Writer;
  let patientWriter: Writer | undefined;

  before(async () => {
    operator = await installOperator("clusterwide");
    const namespace = await restrictedNamespace("nodes");
    cluster = await makeCluster({ namespace, name: "nodes" }, { size: 3 }, clusterwide);
    await cluster.whole();
    writer = new Writer(cluster);
  });
  after(async () => {
    await heal(lab);
    await Promise.all([writer?.stop(), patientWriter?.stop()]);
  });

  const nodesReady = (): Promise<true> =>
    waitFor(
      "all nodes to be ready",
      async () => {
        const { items } = await kube.list(Node);
        const ready = items.every(({ status }) => status?.conditions?.some(isReady));
        return ready ? true : undefined;
      },
      { timeoutMs: patience },
    );

  test("members start on different nodes", async () => {
    const { members } = await cluster.whole();
    assert.equal(new Set(members.map(({ node }) => node)).size, Math.min(lab.nodes, 3));
  });

  test("when all nodes lose their power at once, the cluster comes back as it was, with every key", async () => {
    // Longer than it takes, so that nobody is replaced for having been away with all the others.
    await cluster.edit({ failover: { unreachableAfterSeconds: 600 } });
    const before = await cluster.whole();
    await Promise.all(labNodes(lab).map(({ name }) => powerOff(lab, name)));
    for (const { name } of labNodes(lab)) await powerOn(lab, name);
    await nodesReady();
    await writer.progress();
    const after = await cluster.whole();
    othersStay(before, after);
    assert.ok(after.members.every(({ restarts, name }) => restarts > restartsOf(name, before.members)));
    await writer.nothingIsLost();
    // Who votes was read from the logs again: any two of them decide, whoever the third is.
    for (const { name } of after.members) {
      const pod = `${cluster.namespace}/${name}`;
      await pauseContainer(lab, pod);
      await writer.progress(20);
      await resumeContainer(lab, pod);
      await cluster.whole();
    }
    await writer.nothingIsLost();
    await cluster.edit({ failover: { unreachableAfterSeconds: 5 } });
  });

  test("a member whose node lost its power is replaced on another node after the time that its cluster sets", async () => {
    const { namespace } = cluster;
    const patient = await makeCluster(
      { namespace, name: "patient" },
      { size: 3, failover: { unreachableAfterSeconds: 600 } },
      clusterwide,
    );
    const [before, patientBefore] = await Promise.all([cluster.whole(), patient.whole()]);
    patientWriter = new Writer(patient);
    const home = (await operator.leader()).spec?.nodeName;
    const away = patientBefore.members.find(({ node }) => node !== home && before.members.some((m) => m.node === node));
    const victim = before.members.find(({ node }) => node === away?.node);
    assert.ok(victim && away);
    await powerOff(lab, victim.node);
    const after = await cluster.whole({ without: [victim.name] });
    othersStay(before, after, victim.name);
    assert.ok(after.members.every(({ node }) => node !== victim.node));
    await cluster.untilEvent("Member Removed", ({ note }) => note?.includes(`${victim.node} is gone`) ?? false);
    await writer.nothingIsLost();
    // The other one has seen it, too, and waits.
    await patient.until("it is told who is missing", (seen) => {
      const ready = conditionOf(seen, "Ready");
      return ready?.status === "False" && ready.message?.includes(away.name) === true;
    });
    await patientWriter.progress();
    const here = patientBefore.members.find(({ node }) => node !== victim.node);
    const listed = await here?.etcd.memberList({ linearizable: true });
    assert.deepEqual(idsOf(listed?.members ?? []), idsOf(patientBefore.members));
    assert.deepEqual(
      (await patient.pods()).map(({ metadata }) => [metadata?.uid, metadata?.deletionTimestamp]),
      patientBefore.members.map(({ uid }) => [uid, undefined]),
    );
    await powerOn(lab, victim.node);
    await nodesReady();
    // What the node had before must not come between the others.
    await writer.progress(50);
    othersStay(after, await cluster.whole());
    await writer.nothingIsLost();
    othersStay(patientBefore, await patient.whole());
    await patientWriter.nothingIsLost();
  });
});

const idsOf = (members: readonly { readonly id: string }[]): string[] => members.map(({ id }) => id).toSorted();

const isReady = ({ type, status }: { type: string; status: string }): boolean => type === "Ready" && status === "True";

const restartsOf = (name: string, members: readonly { name: string; restarts: number }[]): number =>
  members.find((member) => member.name === name)?.restarts ?? 0;
