// A cluster of etcd-operator 0.9.4 is taken over as it runs, by an annotation or as docs/take-over.md says: nothing is
// restarted. Then it heals, scales, and is upgraded; newer images have no shell for the old probes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { killContainer } from "../../../lab/faults/containers.ts";
import { waitFor } from "../../../lab/progress.ts";
import { Service, type Pod } from "../../../src/kube/objects/kinds.ts";
import { kube, lab, patience, patiently } from "../../e2e/support/environment.ts";
import { followers, memberAt } from "../../e2e/support/healthy.ts";
import { IdentityWatch } from "../../e2e/proofs/identity-watch.ts";
import { laneOf } from "../../e2e/support/lane.ts";
import { QuorumWatch } from "../../e2e/proofs/quorum-watch.ts";
import { onlyReplaced } from "../../e2e/proofs/replaced.ts";
import { RollWatch } from "../../e2e/proofs/roll-watch.ts";
import { untilRolled } from "../../e2e/proofs/rolled.ts";
import { holdSameData } from "../../e2e/proofs/same-data.ts";
import { ownNamespace } from "../../support/kubectl.ts";
import { isMatrix, type Row, rowsOf } from "../../support/matrix.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { createInherited, handOver, inheritedVersion, type Naming } from "../support/inherited-cluster.ts";
import { clusterOfPage, takeOverByPage } from "../support/take-over.ts";

interface InheritedLane {
  readonly naming: Naming;
  readonly names: string;
  readonly name: string;
  readonly takeOver: (cluster: TestCluster) => Promise<void>;
  readonly upgraded: boolean;
}

const lanes: readonly InheritedLane[] = [
  { naming: "random", names: "with random names", name: "random", takeOver: handOver, upgraded: true },
  {
    naming: "counted",
    names: "with names that count up",
    name: clusterOfPage,
    takeOver: takeOverByPage,
    upgraded: isMatrix,
  },
];

export function inherited(): void {
  for (const { naming, names, name, takeOver, upgraded } of lanes)
    describe(`a cluster of etcd-operator 0.9 ${names}`, { concurrency: 1 }, () => {
      let left: readonly Pod[] = [];
      let services: readonly string[] = [];
      const on = laneOf(name, async () => {
        // Its pods run as root, which the restricted profile forbids.
        const namespace = await ownNamespace("inherited");
        const cluster = await createInherited({ namespace, name }, 3, naming);
        left = await cluster.pods();
        services = await servicesOf(namespace);
        await memberAt(left[0]?.status?.podIP ?? "").put("/before", "1", patiently);
        await takeOver(cluster);
        return cluster;
      });

      test(`${names} is taken over: the Services are corrected, and no pod is restarted or made`, async () => {
        const { cluster, writer, first } = on();
        await using roll = new RollWatch(cluster);
        await writer.progress(100);
        const pods = await cluster.pods();
        assert.deepEqual(pods.map(identityOf).toSorted(), left.map(identityOf).toSorted());
        const { metadata, spec, status } = await cluster.get();
        assert.equal(status?.clusterId, first.clusterId);
        assert.equal(status?.currentVersion, inheritedVersion);
        assert.equal(spec.version, inheritedVersion);
        assert.deepEqual(await servicesOf(metadata?.namespace ?? ""), services);
        // Services hold up nothing: the cluster may be Ready before.
        const isCorrected = async (): Promise<true | undefined> =>
          (await kube.get(Service, cluster.key)).spec?.publishNotReadyAddresses || undefined;
        await waitFor("the Service of peers to be corrected", isCorrected, { timeoutMs: patience });
        await roll.madeNoPod(first);
        await writer.nothingIsLost();
      });

      test(`${names} replaces a member whose container has exited, and only that one`, async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        const [victim] = followers(before);
        assert.ok(victim);
        // Its pods never restart a container: the data is lost with it.
        await killContainer(lab, `${cluster.namespace}/${victim.name}`);
        onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
        await writer.nothingIsLost();
      });

      if (!upgraded) return;

      test(`${names} scales to 4 and back to 3, and keeps the members that it had`, async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        await using quorum = new QuorumWatch(cluster);
        await cluster.scale(4);
        assert.equal((await cluster.untilHealthy()).members.length, 4);
        await cluster.scale(3);
        onlyReplaced(before, await cluster.untilHealthy());
        await writer.nothingIsLost();
        await quorum.alwaysQuorum();
      });

      // From 3.4 on upgrades.ts takes the same steps: by then every pod is one of this operator's.
      for (const { from, to } of rowsOf<Row & { from: string; to: string }>([
        { from: inheritedVersion, to: "3.3.27" },
        { from: "3.3.27", to: "3.4.23" },
        { from: "3.4.23", to: "3.5.35", onlyInMatrix: true },
        { from: "3.5.35", to: "3.6.16", onlyInMatrix: true },
        { from: "3.6.16", to: "3.7.3", onlyInMatrix: true },
      ]))
        test(`${names} is upgraded from ${from} to ${to}, one member at a time`, async () => {
          const { cluster, writer, first } = on();
          await cluster.untilHealthy();
          await using quorum = new QuorumWatch(cluster, { fewest: 2 });
          await using identity = new IdentityWatch(cluster, first.clusterId);
          await cluster.edit({ version: to });
          const after = await identity.during(untilRolled(cluster));
          assert.equal(after.clusterId, first.clusterId);
          for (const { etcd, name } of after.members) {
            assert.equal((await etcd.status(patiently)).version, to, name);
            assert.equal((await etcd.list("/before", {}, patiently)).keys.length, 1, name);
          }
          await cluster.untilPodsReady();
          await holdSameData(after);
          await writer.nothingIsLost();
          await quorum.alwaysQuorum();
          await identity.neverViolated();
        });
    });
}

/** The container has another id when it was started again. */
const identityOf = ({ metadata, status }: Pod): string =>
  `${metadata?.name} ${metadata?.uid} ${status?.containerStatuses?.[0]?.containerID}`;

/** The uid of each: recreated Services have another address. */
async function servicesOf(namespace: string): Promise<string[]> {
  const { items } = await kube.list(Service, { namespace });
  return items.map(({ metadata }) => metadata?.uid ?? "").toSorted();
}
