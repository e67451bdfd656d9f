// A status that somebody edited. What can be observed is corrected; a wrong cluster id is reported and left for a person to
// decide.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { kubectl } from "../../support/kubectl.ts";
import { currentEtcd, type TestCluster } from "../support/cluster.ts";
import { kube } from "../support/environment.ts";
import { applyCluster, healed, sharedNamespace, untilReported } from "./bad-case.ts";

const spec = { size: 1, version: currentEtcd };

export function wrongStatuses(): void {
  test("a status with wrong values is corrected, and wrong types in it are refused", async () => {
    const cluster = await applyCluster({ namespace: await sharedNamespace(), name: "nonsense" }, spec);
    const before = await cluster.untilHealthy();
    const lastTransitionTime = "2026-01-31T12:00:00Z";
    const nonsense = { type: "Ready", status: "Unknown", reason: "Nonsense", message: "", lastTransitionTime };
    const conditions = [nonsense, { type: "Own", status: "True", reason: "Mine", message: "", lastTransitionTime }];
    await patchStatus(cluster, {
      phase: "Nonsense",
      size: 99,
      ready: "many",
      clusterId: "not an id",
      leader: "me",
      conditions,
    });
    await cluster.until(
      "its status is correct again",
      ({ status }) => status?.phase === "Running" && status.size === 1,
    );
    const after = await cluster.untilHealthy();
    assert.deepEqual([after.clusterId, after.leader.uid], [before.clusterId, before.leader.uid]);
    await assert.rejects(patchStatus(cluster, { size: "many" }), /must be of type integer/);
    for (const [wrong, says] of [
      [{ status: "Perhaps" }, /"Perhaps"/],
      [{ reason: undefined }, /conditions\[0\]\.reason: Required value/],
      [{ lastTransitionTime: "yesterday" }, /must be of type date-time/],
    ] as const)
      await assert.rejects(patchStatus(cluster, { conditions: [{ ...nonsense, ...wrong }] }), says);
    await kube.delete(EtcdCluster, cluster.key);
  });

  test("a foreign cluster id in the status is reported, and the members are left alone", async (context) => {
    const cluster = await applyCluster({ namespace: await sharedNamespace(), name: "identity" }, spec);
    const before = await cluster.untilHealthy();
    await patchStatus(cluster, { clusterId: "deadbeef" });
    await untilReported(cluster, {
      reason: "ForeignCluster",
      says: [
        `belong to the etcd cluster ${before.clusterId}, but status.clusterId is deadbeef`,
        `set status.clusterId to ${before.clusterId} with kubectl patch`,
      ],
    });
    const after = await healed(context, cluster, () => patchStatus(cluster, { clusterId: before.clusterId }));
    assert.deepEqual([after.leader.uid, after.leader.restarts], [before.leader.uid, before.leader.restarts]);
    await kube.delete(EtcdCluster, cluster.key);
  });
}

async function patchStatus({ namespace, name }: TestCluster, status: object): Promise<void> {
  await kubectl(
    "patch",
    `--namespace=${namespace}`,
    `etcd/${name}`,
    "--subresource=status",
    "--type=merge",
    `--patch=${JSON.stringify({ status })}`,
  );
}
