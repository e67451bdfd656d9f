// Names that somebody else has already: nothing is taken over, the owner keeps what is theirs, and the cluster is made as
// soon as the name is free.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { Service } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { kubectl } from "../../support/kubectl.ts";
import { currentEtcd } from "../support/cluster.ts";
import { kube } from "../support/ground.ts";
import { applyCluster, badCase, healed, sharedNamespace, untilTold } from "./bad-case.ts";

const spec = { size: 1, version: currentEtcd };

export function takenNames(): void {
  for (const [name, service] of [
    ["peers-taken", "peers-taken"],
    ["clients-taken", "clients-taken-client"],
  ] as const)
    badCase({
      what: `a Service ${service} of somebody else's`,
      name,
      prepare: ({ namespace }) =>
        kubectl("create", "service", "clusterip", service, "--tcp=80", `--namespace=${namespace}`),
      reason: "Refused",
      says: [`a Service named ${service} exists and is not the cluster's: delete it`],
      correct: async ({ namespace }: Key) => {
        const { metadata } = await kube.get(Service, { namespace, name: service });
        assert.equal(metadata?.labels?.["etcd_cluster"], undefined, "it was left as it was");
        await kubectl("delete", "service", service, `--namespace=${namespace}`);
      },
    });
  badCase({
    what: "a PodDisruptionBudget of somebody else's",
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

  test("a cluster called like another's client Service is told so and takes nothing from it", async (context) => {
    const namespace = await sharedNamespace();
    const first = await applyCluster({ namespace, name: "shop" }, spec);
    const before = await first.whole();
    const second = await applyCluster({ namespace, name: "shop-client" }, spec);
    await untilTold(second, {
      reason: "Refused",
      says: ["the Service shop-client belongs to the EtcdCluster shop", "under another name"],
    });
    await kube.delete(EtcdCluster, second.key);
    const third = await applyCluster({ namespace, name: "shop-clients" }, spec);
    await healed(context, third, () => Promise.resolve());
    const after = await first.whole();
    assert.deepEqual([after.leader.uid, after.leader.restarts], [before.leader.uid, before.leader.restarts]);
    const { metadata } = await kube.get(Service, { namespace, name: "shop-client" });
    assert.equal(metadata?.ownerReferences?.[0]?.name, "shop");
    await Promise.all([first, third].map(({ key }) => kube.delete(EtcdCluster, key)));
  });
}
