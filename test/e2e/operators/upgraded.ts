// The operator is upgraded from the one before it, and rolled back, while clusters of several kinds run and clients write: no
// pod restarts, nothing is reported, no write fails, and what was half way is finished. The CRDs are the newer ones.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster, type EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { type Row, rowsOf } from "../../support/matrix.ts";
import { ReadyWatch } from "../proofs/ready-watch.ts";
import { Writer } from "../proofs/writer.ts";
import { createCluster, type TestCluster } from "../support/cluster.ts";
import { kube, restrictedNamespace } from "../support/environment.ts";
import type { HealthyCluster } from "../support/healthy.ts";
import { deleteLeases, OperatorProcess } from "../support/operator-process.ts";

interface Kind extends Row {
  readonly name: string;
  readonly spec: EtcdClusterSpec;
  /** An edit once it is whole. */
  readonly edit?: Partial<EtcdClusterSpec>;
}

const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const resources = { requests: { cpu: "10m", memory: "48Mi" }, limits: { memory: "256Mi" } };

const settledKinds: readonly Kind[] = [
  { name: "whole", spec: { size: 1, TLS: { auto: true }, pod: { persistentVolumeClaimSpec: claim, resources } } },
  { name: "plain", spec: { size: 3 }, onlyInMatrix: true },
  { name: "certified", spec: { size: 3, TLS: { auto: true } }, onlyInMatrix: true },
  { name: "kept", spec: { size: 3, pod: { persistentVolumeClaimSpec: claim } }, onlyInMatrix: true },
  { name: "middle", spec: { size: 3, version: "3.5.35" }, onlyInMatrix: true },
  { name: "aged", spec: { size: 3, version: "3.4.23" }, onlyInMatrix: true },
  { name: "oldest", spec: { size: 1, version: "3.2.13" }, onlyInMatrix: true },
  { name: "newest", spec: { size: 1, version: "3.7.3" }, onlyInMatrix: true },
  { name: "paused", spec: { size: 1 }, edit: { paused: true }, onlyInMatrix: true },
];

interface Settled {
  readonly cluster: TestCluster;
  readonly writer: Writer;
  readonly pods: readonly object[];
  readonly events: readonly string[];
  readonly watch: ReadyWatch;
}

export function upgraded(): void {
  describe("an upgrade of the operator", { concurrency: 1 }, () => {
    test("and a rollback leave settled clusters alone, and finish an upgrade of etcd that is half way", async () => {
      const namespace = await restrictedNamespace("upgraded");
      const begun = new OperatorProcess({ namespace, code: "earlier" });
      const clusters = await Promise.all(
        rowsOf(settledKinds).map(async ({ name, spec, edit }) => {
          const cluster = await createCluster({ namespace, name }, spec);
          await cluster.untilHealthy();
          if (edit !== undefined) await cluster.edit(edit);
          await cluster.untilObserved();
          await cluster.untilPodsReady();
          return cluster;
        }),
      );
      const changing = await createCluster({ namespace, name: "changing" }, { size: 3, version: "3.5.35" });
      await begun.during(changing.untilHealthy());
      const writer = new Writer(changing);

      try {
        // Half way in an upgrade of etcd, the operator is upgraded.
        await changing.edit({ version: "3.6.16" });
        await untilMixed(changing);
        const settled = await Promise.all(clusters.map(watched));
        await replaced(begun, namespace);
        const present = new OperatorProcess({ namespace });
        await present.during(finished(changing, "3.6.16"));
        await leftAlone(settled);

        // Half way in the next, it is rolled back.
        await changing.edit({ version: "3.7.3" });
        await untilMixed(changing);
        const again = await Promise.all(clusters.map(watched));
        await replaced(present, namespace);
        const rolledBack = new OperatorProcess({ namespace, code: "earlier" });
        await rolledBack.during(finished(changing, "3.7.3"));
        await leftAlone(again);
        await rolledBack.kill();
        await writer.nothingIsLost();
        writer.oneRetryWasEnough();
      } finally {
        await writer.stop();
      }
      for (const { key } of [...clusters, changing]) await kube.delete(EtcdCluster, key);
    });
  });
}

/** Killed, so that nothing of it goes on; its Lease would make the next one wait. */
async function replaced(operator: OperatorProcess, namespace: string): Promise<void> {
  await operator.kill();
  await deleteLeases(namespace);
}

async function untilMixed(cluster: TestCluster): Promise<void> {
  await cluster.until("members of two versions", ({ status }) => Object.keys(status?.versions ?? {}).length === 2);
}

async function finished(cluster: TestCluster, version: string): Promise<HealthyCluster> {
  await cluster.until(
    `all members of ${version}`,
    ({ status }) => status?.currentVersion === version && status.targetVersion === "",
  );
  return cluster.untilHealthy();
}

async function watched(cluster: TestCluster): Promise<Settled> {
  const [pods, events] = [await podsOf(cluster), await eventsOf(cluster)];
  return { cluster, pods, events, writer: new Writer(cluster), watch: new ReadyWatch(cluster) };
}

async function leftAlone(settled: readonly Settled[]): Promise<void> {
  for (const { cluster, pods, events, writer, watch } of settled) {
    const { spec } = await cluster.get();
    // No pod is touched by this edit, and it is observed after all that the new operator found.
    await cluster.edit({ failover: { unreachableAfterSeconds: (spec.failover?.unreachableAfterSeconds ?? 60) + 1 } });
    await cluster.untilObserved();
    await writer.nothingIsLost();
    writer.oneRetryWasEnough();
    await writer.stop();
    const setbacks = await watch.end();
    // On a busy machine a member may miss one health check of the operator.
    assert.deepEqual(
      setbacks.filter((setback) => !/^(MembersUnhealthy|Electing):/.test(setback)),
      [],
      cluster.name,
    );
    assert.deepEqual(await podsOf(cluster), pods, cluster.name);
    assert.deepEqual(await eventsOf(cluster), events, cluster.name);
  }
}

async function podsOf(cluster: TestCluster): Promise<object[]> {
  const pods = (await cluster.pods()).map(({ metadata, status }) => ({
    name: metadata?.name,
    uid: metadata?.uid,
    restarts: status?.containerStatuses?.map(({ restartCount }) => restartCount),
  }));
  return pods.toSorted((a, b) => ((a.name ?? "") < (b.name ?? "") ? -1 : 1));
}

async function eventsOf(cluster: TestCluster): Promise<string[]> {
  return (await cluster.events()).map(({ reason, note }) => `${reason}: ${note}`).toSorted();
}
