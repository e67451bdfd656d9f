// Every setting of spec.pod with a valid value, in one cluster: checked in the pods, in the containers and in etcd itself.
// Invalid values are in bad-inputs.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { after, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { unified } from "../../../lab/nodes/cgroups.ts";
import { cgroupOf, containerOf, findPod } from "../../../lab/nodes/pods.ts";
import { waitFor } from "../../../lab/progress.ts";
import type { TxnResult } from "../../../src/etcd/member.ts";
import { ports } from "../../../src/cluster/objects/labels.ts";
import { Node } from "../../../src/kube/objects/kinds.ts";
import { apply, kubectl } from "../../support/kubectl.ts";
import { currentEtcd } from "../support/cluster.ts";
import { kube, lab, patience, patiently } from "../support/environment.ts";
import { lane } from "../support/lane.ts";
import { onlyReplaced } from "../proofs/replaced.ts";
import { untilRolled } from "../proofs/rolled.ts";

const priorityClass = { name: "settings-of-etcd", value: 1000 };
const quotaBackendBytes = 1_073_741_824;
const zone = "topology.kubernetes.io/zone";
/** The second registry that upstream publishes to. */
const repository = "gcr.io/etcd-development/etcd";
const user = 10_001;

const pod = {
  labels: { team: "storage" },
  annotations: { note: "kept" },
  nodeSelector: { "kubernetes.io/os": "linux" },
  antiAffinity: true,
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: zone,
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: { matchLabels: { team: "storage" } },
    },
  ],
  tolerations: [{ key: "dedicated", operator: "Equal", value: "etcd", effect: "NoSchedule" }],
  resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "512Mi" } },
  etcdEnv: [
    { name: "ETCD_METRICS", valueFrom: { configMapKeyRef: { name: "settings", key: "metrics" } } },
    { name: "ETCD_MAX_TXN_OPS", value: "2" },
  ],
  securityContext: { runAsUser: user, runAsGroup: user, fsGroup: user },
  priorityClassName: priorityClass.name,
  serviceAccountName: "etcd-runner",
  imagePullSecrets: [{ name: "registry" }],
  terminationGracePeriodSeconds: 3,
  busyboxImage: "registry.invalid/busybox",
  DNSTimeoutInSecond: 1,
  ClusterDomain: ".cluster.local",
};

export function settings(): void {
  describe("settings", { concurrency: 1 }, () => {
    const size = Math.min(lab.nodes, 3);
    const on = lane("settings", { size, repository, pod, etcd: { quotaBackendBytes } }, prepare);
    after(() => kubectl("delete", "priorityclass", priorityClass.name, "--ignore-not-found"));

    test("the settings of spec.pod and spec.etcd are in the pods", async () => {
      const { cluster, writer } = on();
      await cluster.untilHealthy();
      const pods = await cluster.untilPodsReady();
      assert.equal(pods.length, size);
      for (const { metadata, spec } of pods) {
        assert.equal(metadata?.labels?.["team"], "storage");
        assert.equal(metadata?.annotations?.["note"], "kept");
        assert.equal(metadata?.annotations?.["etcd.version"], currentEtcd);
        assert.deepEqual(spec?.nodeSelector, pod.nodeSelector);
        const apart = spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
        assert.deepEqual(
          apart?.map(({ topologyKey }) => topologyKey),
          ["kubernetes.io/hostname"],
        );
        assert.deepEqual(spec?.topologySpreadConstraints, pod.topologySpreadConstraints);
        assert.ok(spec?.tolerations?.some(({ key, value }) => key === "dedicated" && value === "etcd"));
        assert.equal(spec?.securityContext?.runAsUser, user);
        assert.equal(spec?.securityContext?.runAsNonRoot, true, "unset fields keep their defaults");
        assert.equal(spec?.priorityClassName, priorityClass.name);
        assert.equal(spec?.priority, priorityClass.value);
        assert.equal(spec?.serviceAccountName, "etcd-runner");
        assert.deepEqual(spec?.imagePullSecrets, pod.imagePullSecrets);
        assert.equal(spec?.terminationGracePeriodSeconds, 3);
        assert.equal(spec?.initContainers, undefined);
        assert.deepEqual(
          spec?.volumes?.map(({ name }) => name),
          ["etcd-data"],
          "no service account token is mounted",
        );
        const [container] = spec?.containers ?? [];
        assert.equal(container?.image, `${repository}:v${currentEtcd}`);
        assert.deepEqual(container?.resources, pod.resources);
        const names = new Set(pod.etcdEnv.map(({ name }) => name));
        assert.deepEqual(
          container?.env?.filter(({ name }) => names.has(name)),
          pod.etcdEnv,
        );
        assert.ok(container?.command?.includes(`--quota-backend-bytes=${quotaBackendBytes}`));
      }
      await writer.nothingIsLost();
    });

    test("members run on different nodes and zones, as the configured user", async () => {
      const { cluster } = on();
      const { members } = await cluster.untilHealthy();
      assert.equal(new Set(members.map(({ node }) => node)).size, size);
      const { items } = await kube.list(Node);
      const zones = items
        .filter(({ metadata }) => members.some(({ node }) => node === metadata?.name))
        .map(({ metadata }) => metadata?.labels?.[zone]);
      assert.equal(new Set(zones).size, size);
      for (const { name } of members) {
        const { pid } = containerOf(await findPod(lab, { namespace: cluster.namespace, name }), "etcd");
        const status = await readFile(`/proc/${pid}/status`, "utf8");
        assert.match(status, new RegExp(`^Uid:\\s+${user}\\s`, "m"));
        assert.match(status, new RegExp(`^Gid:\\s+${user}\\s`, "m"));
      }
    });

    test("etcd uses its environment variables, its quota, and host names with the cluster domain", async () => {
      const { cluster } = on();
      const { members, leader } = await cluster.untilHealthy();
      for (const { etcd, address } of members) {
        assert.equal((await etcd.status(patiently)).dbSizeQuota, quotaBackendBytes);
        const scrape = async (): Promise<string> => {
          const signal = AbortSignal.timeout(30_000);
          return (await fetch(`http://${address}:${ports.metrics}/metrics`, { signal })).text();
        };
        // Only exposed with ETCD_METRICS=extensive.
        assert.match(
          await waitFor("metrics", scrape, { timeoutMs: patience }),
          /^grpc_server_handling_seconds_bucket/m,
        );
        const puts = ["1", "2", "3"].map((value) => ({ put: `/settings/${value}`, value }));
        const put = (count: number): Promise<TxnResult> => etcd.txn({ when: [], andThen: puts.slice(0, count) });
        await assert.rejects(put(3), { reason: "tooManyOperations" });
        assert.ok((await waitFor("a transaction", () => put(2), { timeoutMs: patience })).succeeded);
      }
      const host = (name: string): string => `${name}.${cluster.name}.${cluster.namespace}.svc.cluster.local`;
      const { members: listed } = await leader.etcd.memberList({ linearizable: true });
      for (const { name, peerUrls, clientUrls } of listed) {
        assert.deepEqual(peerUrls, [`http://${host(name)}:${ports.peer}`]);
        assert.deepEqual(clientUrls, [`http://${host(name)}:${ports.client}`]);
      }
      assert.deepEqual(
        (await cluster.get()).status?.clientEndpoints,
        members.map(({ name }) => `http://${host(name)}:${ports.client}`),
      );
    });

    test("edited resources are resized in place: no new pod, no restart of etcd", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const resources = { requests: { cpu: "20m", memory: "48Mi" }, limits: { memory: "640Mi" } };
      await cluster.edit({ pod: { resources } });
      let seen = "";
      await waitFor(
        "the kubelets to apply the resources",
        async () => {
          const pods = await cluster.pods();
          const given = pods.map(({ status }) => status?.containerStatuses?.[0]?.resources);
          seen = JSON.stringify(given);
          return given.every((one) => isDeepStrictEqual(one, resources)) || undefined;
        },
        { timeoutMs: patience, lastSeen: () => seen },
      );
      for (const { spec } of await cluster.pods()) assert.deepEqual(spec?.containers[0]?.resources, resources);
      for (const { name } of before.members) {
        const { pid } = containerOf(await findPod(lab, { namespace: cluster.namespace, name }), "etcd");
        assert.equal(await memoryLimit(pid), 640 << 20);
      }
      const after = await cluster.untilHealthy();
      onlyReplaced(before, after);
      assert.deepEqual(
        after.members.map(({ restarts }) => restarts),
        before.members.map(({ restarts }) => restarts),
      );
      await writer.nothingIsLost();
    });

    test("spec.image overrides repository and version: each member restarts from it, in place", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const image = `quay.io/coreos/etcd:v${currentEtcd}`;
      await cluster.edit({ image });
      const after = await untilRolled(cluster);
      onlyReplaced(before, after);
      for (const { spec } of await cluster.pods()) assert.equal(spec?.containers[0]?.image, image);
      assert.deepEqual(
        after.members.map(({ restarts }) => restarts),
        before.members.map(({ restarts }) => restarts + 1),
      );
      await writer.nothingIsLost();
    });
  });
}

/** The cgroup's memory limit in bytes. */
async function memoryLimit(pid: number): Promise<number> {
  const file = unified() ? "memory.max" : "memory.limit_in_bytes";
  return Number(await readFile(path.join(cgroupOf(pid, "memory"), file), "utf8"));
}

/** The objects that the settings refer to. */
async function prepare(namespace: string): Promise<void> {
  const auths = { "registry.invalid": { username: "somebody", password: "something" } };
  await apply(
    {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: priorityClass.name },
      value: priorityClass.value,
      preemptionPolicy: "Never",
    },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name: pod.serviceAccountName } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "settings" }, data: { metrics: "extensive" } },
    {
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/dockerconfigjson",
      metadata: { namespace, name: "registry" },
      stringData: { ".dockerconfigjson": JSON.stringify({ auths }) },
    },
  );
}
