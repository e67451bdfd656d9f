// Status, Services, budget and labels are kept as they should be, and a paused cluster is left alone.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import type { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { PodDisruptionBudget, Service } from "../../../src/kube/objects/kinds.ts";
import { kubectl } from "../../support/kubectl.ts";
import { kube, patience } from "../support/environment.ts";
import { deletePods, deleteObject } from "../support/disruptions.ts";
import { lane } from "../support/lane.ts";
import { conditionOf } from "../support/status.ts";
import { onlyReplaced } from "../proofs/replaced.ts";

export function upkeep(): void {
  describe("upkeep", { concurrency: 1 }, () => {
    const on = lane("upkeep", { size: 3 });

    test("kubectl wait, kubectl get and the status show the cluster", async () => {
      const { cluster, first } = on();
      const { namespace, name } = cluster;
      await kubectl(
        "wait",
        `--namespace=${namespace}`,
        `etcdcluster/${name}`,
        "--for=condition=Ready",
        "--timeout=180s",
      );
      const { members } = await cluster.untilHealthy();
      // The readiness probe runs once a second, and a busy machine makes a member miss a health check.
      const all = ({ status }: EtcdCluster): boolean =>
        status?.members?.ready?.length === 3 && status.ready === "3/3" && status.targetVersion === "";
      const { status, metadata } = await cluster.until("all pods are ready, and all members healthy", all);
      assert.equal(status?.phase, "Running");
      assert.equal(status?.size, 3);
      assert.equal(status?.serviceName, `${name}-client`);
      assert.equal(status?.clientPort, 2379);
      assert.equal(status?.currentVersion, "3.6.16");
      assert.equal(status?.clusterId, first.clusterId);
      assert.equal(status?.observedGeneration, metadata?.generation);
      assert.deepEqual(
        status?.clientEndpoints,
        members.map((member) => `http://${member.name}.${name}.${namespace}.svc:2379`),
      );
      assert.deepEqual(
        status?.members?.ready?.toSorted(),
        members.map((member) => member.name),
      );
      let shown = "";
      await waitFor(
        "kubectl get to show it",
        async () => {
          shown = (await kubectl("get", "etcd", `--namespace=${namespace}`, name)).trim();
          return /^NAME.*READY.*VERSION.*AGE.*\n.*3\/3.*3\.6\.16/.test(shown) || undefined;
        },
        { timeoutMs: patience, lastSeen: () => shown },
      );
    });

    test("deleted Services and a deleted budget are recreated", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const another = [
        await deleteObject(Service, cluster.key),
        await deleteObject(Service, { ...cluster.key, name: `${cluster.name}-client` }),
        await deleteObject(PodDisruptionBudget, cluster.key),
      ];
      for (const isThere of another) await isThere();
      onlyReplaced(before, await cluster.untilHealthy());
      await writer.nothingIsLost();
    });

    test("a changed selector and a changed minAvailable are corrected", async () => {
      const { cluster } = on();
      const key = { namespace: cluster.namespace, name: `${cluster.name}-client` };
      await kube.mergePatch(Service, key, { spec: { selector: { etcd_cluster: "another" } } });
      await kube.mergePatch(PodDisruptionBudget, cluster.key, { spec: { minAvailable: 0 } });
      let seen = "";
      await waitFor(
        "the client Service to select the members",
        async () => {
          const [service, budget] = await Promise.all([
            kube.get(Service, key),
            kube.get(PodDisruptionBudget, cluster.key),
          ]);
          seen = JSON.stringify([service.spec?.selector, budget.spec?.minAvailable]);
          const right = service.spec?.selector?.["etcd_cluster"] === cluster.name && budget.spec?.minAvailable === 2;
          return right ? true : undefined;
        },
        { timeoutMs: patience, lastSeen: () => seen },
      );
    });

    test("a pod whose labels were removed gets them back and stays the same member", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const [first, second] = before.members;
      assert.ok(first && second);
      const label = (pod: string, ...labels: string[]): Promise<string> =>
        kubectl("label", "pod", `--namespace=${cluster.namespace}`, pod, "--overwrite", ...labels);
      await label(first.name, "app-");
      await label(second.name, "etcd_cluster=another");
      for (const { name } of [first, second])
        await cluster.untilEvent("Labels Restored", ({ note }) => note?.includes(name) ?? false);
      onlyReplaced(before, await cluster.untilHealthy());
      for (const { metadata } of await cluster.pods()) assert.equal(metadata?.labels?.["app"], "etcd");
      await writer.nothingIsLost();
    });

    test("a paused cluster is left alone, and healed when it is resumed", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await cluster.edit({ paused: true });
      await cluster.until("it is paused", ({ status }) => status?.controlPaused === true);
      const [victim] = before.members;
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      await cluster.until("Ready is False", (cluster) => conditionOf(cluster, "Ready")?.status === "False");
      await waitFor(
        "the pod to be gone",
        async () => ((await cluster.pod(victim.name)) === undefined ? true : undefined),
        {
          timeoutMs: patience,
        },
      );
      await cluster.edit({ size: 5 });
      await cluster.untilObserved();
      assert.equal((await cluster.pods()).length, 2);
      await cluster.edit({ size: 3, paused: false });
      onlyReplaced(before, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
      await writer.nothingIsLost();
    });
  });
}
