// Every setting of spec.pod and spec.etcd is edited while the cluster serves. Where Kubernetes can change a running pod it is
// changed in place; for the rest members are replaced one by one, each new one before the old one leaves, and only once.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { typedBlocks } from "../../../docs/typed.ts";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster, type EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { kube, lab, patience } from "../../e2e/support/environment.ts";
import type { HealthyCluster } from "../../e2e/support/healthy.ts";
import { IdentityWatch } from "../../e2e/proofs/identity-watch.ts";
import { lane } from "../../e2e/support/lane.ts";
import { eachHas, type MemberProcess } from "../../e2e/support/member-process.ts";
import type { Operator } from "../../e2e/support/operator.ts";
import { QuorumWatch } from "../../e2e/proofs/quorum-watch.ts";
import { onlyReplaced, sameProcesses } from "../../e2e/proofs/replaced.ts";
import { RollWatch } from "../../e2e/proofs/roll-watch.ts";
import { untilRolled } from "../../e2e/proofs/rolled.ts";
import { conditionOf } from "../../e2e/support/status.ts";
import { placeIn } from "../../e2e/own-kubeconfig.ts";
import { blockScript, typeScript } from "../../support/docs.ts";
import { apply, kubectl } from "../../support/kubectl.ts";

const priorityClass = "rolls-of-etcd";
const user = 10_001;
const size = Math.min(lab.nodes, 3);
const linux = { key: "kubernetes.io/os", operator: "In", values: ["linux"] };

interface Replacement {
  readonly what: string;
  readonly edit: Partial<EtcdClusterSpec>;
  /** Asserts that the new pod, or its process, has it. */
  readonly has: (pod: Pod, process: MemberProcess) => void;
}

/** All of them in one edit. */
const replacements: readonly Replacement[] = [
  {
    what: "settings of etcd",
    edit: {
      etcd: {
        quotaBackendBytes: 1_073_741_824,
        autoCompactionMode: "revision",
        autoCompactionRetention: "100000",
        snapshotCount: 5_000,
        extraArgs: ["--heartbeat-interval=120", "--max-txn-ops=200"],
      },
    },
    has(_pod, { args, env }) {
      for (const arg of [
        "--quota-backend-bytes=1073741824",
        "--auto-compaction-retention=100000",
        "--snapshot-count=5000",
        "--heartbeat-interval=120",
      ])
        assert.ok(args.includes(arg), `${arg} is not in ${args.join(" ")}`);
      assert.equal(env.get("ETCD_AUTO_COMPACTION_MODE"), "revision");
      assert.equal(env.get("ETCD_MAX_TXN_OPS"), "200");
    },
  },
  {
    what: "variables, user, ServiceAccount, pull secrets, the time to shut down, and where pods run",
    edit: {
      pod: {
        etcdEnv: [{ name: "GOGC", value: "90" }],
        securityContext: { runAsUser: user, runAsGroup: user, fsGroup: user },
        serviceAccountName: "etcd-runner",
        imagePullSecrets: [{ name: "registry" }],
        terminationGracePeriodSeconds: 7,
        nodeSelector: { "kubernetes.io/os": "linux" },
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [linux] }] },
          },
        },
        tolerations: [{ key: "dedicated", operator: "Equal", value: "etcd", effect: "NoSchedule" }],
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "topology.kubernetes.io/zone",
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: { matchLabels: { etcd_cluster: "configuration" } },
          },
        ],
        priorityClassName: priorityClass,
      },
    },
    has({ spec }, process) {
      assert.equal(process.env.get("GOGC"), "90");
      assert.equal(process.user, user);
      assert.equal(spec?.serviceAccountName, "etcd-runner");
      assert.deepEqual(spec?.imagePullSecrets, [{ name: "registry" }]);
      assert.equal(spec?.terminationGracePeriodSeconds, 7);
      assert.deepEqual(spec?.nodeSelector, { "kubernetes.io/os": "linux" });
      const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
      assert.deepEqual(terms, [{ matchExpressions: [linux] }]);
      assert.equal(spec?.affinity?.podAntiAffinity, undefined);
      assert.ok(spec?.tolerations?.some(({ key }) => key === "dedicated"));
      assert.equal(spec?.topologySpreadConstraints?.length, 1);
      assert.equal(spec?.priorityClassName, priorityClass);
    },
  },
];

export function configuration(operator: () => Operator): void {
  describe("settings of a cluster that serves", { concurrency: 1 }, () => {
    const resources = { requests: { cpu: "10m", memory: "32Mi" } };
    const on = lane("configuration", { size, pod: { resources, labels: { tier: "one" } } }, prepare);
    after(() => kubectl("delete", "priorityclass", priorityClass, "--ignore-not-found"));

    test("labels, annotations and resources are changed in place: no new pod, no restart of etcd", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await using roll = new RollWatch(cluster);
      const more = { requests: { cpu: "15m", memory: "48Mi" } };
      await kube.mergePatch(EtcdCluster, cluster.key, {
        spec: { pod: { labels: { tier: null, team: "storage" }, annotations: { note: "kept" }, resources: more } },
      });
      await untilPods(cluster, "labels, annotations and resources", ({ metadata, status }) => {
        const { team, tier } = metadata?.labels ?? {};
        return (
          team === "storage" &&
          tier === undefined &&
          metadata?.annotations?.["note"] === "kept" &&
          isDeepStrictEqual(status?.containerStatuses?.[0]?.resources, more)
        );
      });
      sameProcesses(before, await cluster.untilHealthy());
      await kube.mergePatch(EtcdCluster, cluster.key, { spec: { pod: { annotations: null } } });
      await untilPods(cluster, "no annotation", ({ metadata }) => metadata?.annotations?.["note"] === undefined);
      sameProcesses(before, await cluster.untilHealthy());
      await roll.madeNoPod(before);
      await writer.nothingIsLost();
    });

    test("a setting with which no node takes one more member is reported, costs no member, and is undone by reverting it", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await using quorum = new QuorumWatch(cluster, { fewest: size });
      await cluster.edit({ pod: { antiAffinity: true } });
      await cluster.until("Ready says that no node takes it", (seen) => {
        const ready = conditionOf(seen, "Ready");
        return ready?.status === "False" && /Unschedulable.*No node takes it/s.test(ready.message ?? "");
      });
      await writer.progress(100);
      await cluster.edit({ pod: { antiAffinity: false } });
      sameProcesses(before, await cluster.untilHealthy());
      await writer.nothingIsLost();
      await quorum.alwaysQuorum();
    });

    test(`${replacements.map(({ what }) => what).join("; ")}: each member is replaced once, and the new one joins before the old one leaves`, async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await using quorum = new QuorumWatch(cluster, { fewest: size });
      await using identity = new IdentityWatch(cluster, before.clusterId);
      await using roll = new RollWatch(cluster);
      await cluster.edit(Object.assign({}, ...replacements.map(({ edit }) => edit)));
      const after = await identity.during(untilRolled(cluster));
      onlyReplaced(before, after, ...before.members.map(({ name }) => name));
      for (const { has } of replacements) await eachHas(cluster, after, has);
      await cluster.until("all members are updated", ({ status }) => status?.updatedMembers === size);
      await writer.nothingIsLost();
      await roll.replacedEachOnce(before);
      await quorum.alwaysQuorum();
      await identity.neverViolated();
    });

    test("the annotation restartedAt replaces each member once", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await using quorum = new QuorumWatch(cluster, { fewest: size });
      await using roll = new RollWatch(cluster);
      await replaceByPage(cluster);
      await untilNoneIsLeft(cluster, before);
      const after = await untilRolled(cluster);
      onlyReplaced(before, after, ...before.members.map(({ name }) => name));
      for (const { has } of replacements) await eachHas(cluster, after, has);
      await writer.nothingIsLost();
      await roll.replacedEachOnce(before);
      await quorum.alwaysQuorum();
    });

    test("once settled, no member is replaced again, neither by itself nor by an operator that starts", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await using roll = new RollWatch(cluster);
      await writer.progress(100);
      await operator().scale(0);
      await operator().scale(1);
      await operator().leader();
      // An edit is reconciled after the first reconcile of the restarted operator.
      await cluster.edit({ failover: { unreachableAfterSeconds: 50 } });
      await cluster.untilObserved();
      await writer.progress(100);
      sameProcesses(before, await cluster.untilHealthy());
      await roll.madeNoPod(before);
      await writer.nothingIsLost();
    });
  });

  describe("settings of a single member", { concurrency: 1 }, () => {
    const on = lane("single", { size: 1 });

    test("antiAffinity: a new member joins before the only one leaves", async () => {
      const { cluster, writer, first } = on();
      await using quorum = new QuorumWatch(cluster, { fewest: 1 });
      await using roll = new RollWatch(cluster);
      await cluster.edit({ pod: { antiAffinity: true } });
      const after = await untilRolled(cluster);
      onlyReplaced(first, after, first.leader.name);
      await eachHas(cluster, after, ({ spec }) => {
        const apart = spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
        assert.deepEqual(
          apart?.map(({ topologyKey }) => topologyKey),
          ["kubernetes.io/hostname"],
        );
      });
      await writer.nothingIsLost();
      await roll.replacedEachOnce(first);
      await quorum.alwaysQuorum();
    });
  });
}

async function untilPods(cluster: TestCluster, what: string, holds: (pod: Pod) => boolean): Promise<void> {
  let seen = "";
  await waitFor(
    `${cluster.name}: pods with ${what}`,
    async () => {
      const pods = await cluster.pods();
      seen = JSON.stringify(pods.map(({ metadata, status }) => [metadata, status?.containerStatuses]));
      return pods.every(holds) || undefined;
    },
    { timeoutMs: patience, lastSeen: () => seen },
  );
}

/** As docs/upgrades.md says. Returns when all is ready again, for which the page itself allows so long. */
async function replaceByPage({ name, namespace }: TestCluster): Promise<void> {
  const { KUBECONFIG } = await placeIn(namespace);
  await typeScript(await blockScript(typedBlocks.replaceAll, { "my-etcd": name }), {
    env: { KUBECONFIG },
    timeoutMs: 15 * 60_000,
  });
}

/** Waits for one pod after another to go. */
async function untilNoneIsLeft(cluster: TestCluster, { members }: HealthyCluster): Promise<void> {
  for (let left = members.length; left > 0; )
    left = await waitFor(
      `${cluster.name}: fewer than ${left} of its pods to be left`,
      async () => {
        const uids = new Set((await cluster.pods()).map(({ metadata }) => metadata?.uid));
        const now = members.filter(({ uid }) => uids.has(uid)).length;
        return now < left ? now : undefined;
      },
      { timeoutMs: patience },
    );
}

/** The objects that the settings refer to. */
async function prepare(namespace: string): Promise<void> {
  await apply(
    {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: priorityClass },
      value: 1_000,
      preemptionPolicy: "Never",
    },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name: "etcd-runner" } },
    {
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/dockerconfigjson",
      metadata: { namespace, name: "registry" },
      stringData: { ".dockerconfigjson": JSON.stringify({ auths: {} }) },
    },
  );
}
