// Objects whose names the cluster needs belong to somebody else: they are not touched, and the cluster is created as soon as
// the names are free.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { Service } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { kubectl } from "../../support/kubectl.ts";
import { currentEtcd } from "../support/cluster.ts";
import { kube } from "../support/environment.ts";
import { applyCluster, badCase, healed, sharedNamespace, untilReported } from "./bad-case.ts";

const spec = { size: 1, version: currentEtcd };

export function takenNames(): void {
  for (const { name, service, onlyInMatrix } of [
    { name: "peers-taken", service: "peers-taken", onlyInMatrix: false },
    { name: "clients-taken", service: "clients-taken-client", onlyInMatrix: true },
  ])
    badCase({
      what: `a foreign Service ${service}`,
      name,
      onlyInMatrix,
      prepare: ({ namespace }) =>
        kubectl("create", "service", "clusterip", service, "--tcp=80", `--namespace=${namespace}`),
      reason: "Refused",
      says: [`a Service named ${service} exists and is not the cluster's: delete it`],
      correct: async ({ namespace }: Key) => {
        const { metadata } = await kube.get(Service, { namespace, name: service });
        assert.equal(metadata?.labels?.["etcd_cluster"], undefined, "the foreign Service is unchanged");
        await kubectl("delete", "service", service, `--namespace=${namespace}`);
      },
    });
  badCase({
    what: "a foreign PodDisruptionBudget",
    name: "budget-taken",
    prepare: ({ namespace, name }) =>
      kubectl(
        "create",
        "poddisruptionbudget",
        name,
        "--selector=app=theirs",
        "--min-available=1",
        `--namespace=${namespace}`,
      ),
    reason: "Refused",
    says: ["a PodDisruptionBudget named budget-taken exists and is not the cluster's: delete it"],
    correct: ({ namespace, name }: Key) => kubectl("delete", "poddisruptionbudget", name, `--namespace=${namespace}`),
  });

  test("a cluster named like the client Service of another is refused, and the other keeps its Service", async (context) => {
    const namespace = await sharedNamespace();
    const first = await applyCluster({ namespace, name: "shop" }, spec);
    const before = await first.untilHealthy();
    const second = await applyCluster({ namespace, name: "shop-client" }, spec);
    await untilReported(second, {
      reason: "Refused",
      says: ["the Service shop-client belongs to the EtcdCluster shop", "under another name"],
    });
    await kube.delete(EtcdCluster, second.key);
    const third = await applyCluster({ namespace, name: "shop-clients" }, spec);
    await healed(context, third, () => Promise.resolve());
    const after = await first.untilHealthy();
    assert.deepEqual([after.leader.uid, after.leader.restarts], [before.leader.uid, before.leader.restarts]);
    const { metadata } = await kube.get(Service, { namespace, name: "shop-client" });
    assert.equal(metadata?.ownerReferences?.[0]?.name, "shop");
    await Promise.all([first, third].map(({ key }) => kube.delete(EtcdCluster, key)));
  });
}
