// Valid specs that cannot run here: missing images, constraints that no node satisfies, settings that etcd exits with. Only
// the pod shows the problem.
import assert from "node:assert/strict";
import { test } from "node:test";
import { labNode } from "../../../lab/config.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { kubectl } from "../../support/kubectl.ts";
import { currentEtcd } from "../support/cluster.ts";
import { kube, lab } from "../support/environment.ts";
import { applyCluster, badCase, healed, patchSpec, sharedNamespace, untilReported } from "./bad-case.ts";

const noImage = {
  reason: "MemberCannotStart",
  says: [/ErrImagePull|ImagePullBackOff/, "spec.repository or spec.image"],
} as const;
const noNode = { reason: "MemberCannotStart", says: ["Unschedulable", "No node takes it: change spec.pod"] } as const;
const badEtcd = (...words: string[]) =>
  ({
    reason: "MemberCannotStart",
    says: ["etcd ended with exit code", ...words, "spec.pod.etcdEnv, spec.etcd"],
  }) as const;
const required = "requiredDuringSchedulingIgnoredDuringExecution";
const heartbeat = "ETCD_HEARTBEAT_INTERVAL";
const taint = "dedicated";

export function badPods(): void {
  badCase({ what: "a wrong cluster domain", name: "domain", ...wrongDomain });
  badCase({
    what: "a version without an image",
    name: "version",
    onlyInMatrix: true,
    spec: { version: "3.6.99" },
    ...noImage,
    correct: { version: currentEtcd },
  });
  badCase({
    what: "a repository that does not exist",
    name: "repository",
    spec: { repository: "registry.invalid/etcd" },
    ...noImage,
    correct: { repository: null },
  });
  badCase({
    what: "a tag that does not exist",
    name: "tag",
    onlyInMatrix: true,
    spec: { image: "quay.io/coreos/etcd:v0" },
    ...noImage,
    correct: { image: null },
  });
  badCase({
    what: "an invalid image name",
    name: "image-name",
    onlyInMatrix: true,
    spec: { image: "Quay.io/COREOS/etcd:v3" },
    reason: "MemberCannotStart",
    says: ["InvalidImageName", "Correct spec.image or spec.repository."],
    correct: { image: null },
  });
  badCase({
    what: "an image without etcd",
    name: "no-etcd",
    spec: { image: "docker.io/library/busybox:1.35" },
    reason: "MemberCannotStart",
    says: [/StartError|RunContainerError/, "no such file", "an image that has /usr/local/bin/etcd"],
    correct: { image: null },
  });

  badCase({
    // serving.ts has the same.
    what: "a node selector that no node matches",
    name: "selector",
    onlyInMatrix: true,
    spec: { pod: { nodeSelector: { disk: "none-has-it" } } },
    ...noNode,
    correct: { pod: null },
  });
  badCase({
    what: "a node affinity that no node matches",
    name: "node-affinity",
    onlyInMatrix: true,
    spec: {
      pod: {
        affinity: {
          nodeAffinity: {
            [required]: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["moon"] }] },
              ],
            },
          },
        },
      },
    },
    ...noNode,
    correct: { pod: { affinity: null } },
  });
  badCase({
    what: "a pod affinity to a pod that does not exist",
    name: "pod-affinity",
    onlyInMatrix: true,
    spec: {
      pod: {
        affinity: {
          podAffinity: {
            [required]: [{ labelSelector: { matchLabels: { app: "nobody" } }, topologyKey: "kubernetes.io/hostname" }],
          },
        },
      },
    },
    ...noNode,
    correct: { pod: { affinity: null } },
  });
  badCase({
    what: "a topology spread over zones that do not exist",
    name: "spread",
    onlyInMatrix: true,
    spec: { pod: { topologySpreadConstraints: [spread] } },
    ...noNode,
    correct: { pod: { topologySpreadConstraints: null } },
  });
  badCase({
    what: "a CPU request larger than any node",
    name: "cores",
    onlyInMatrix: true,
    spec: { pod: { resources: { requests: { cpu: "1000" } } } },
    ...noNode,
    says: [...noNode.says, "Insufficient cpu"],
    correct: { pod: { resources: { requests: { cpu: "10m" } } } },
  });
  badCase({
    what: "a memory request larger than any node",
    name: "memory",
    onlyInMatrix: true,
    spec: { pod: { resources: { requests: { memory: "1Ei" } } } },
    ...noNode,
    says: [...noNode.says, "Insufficient memory"],
    correct: { pod: { resources: { requests: { memory: "32Mi" } } } },
  });
  // With 8Mi etcd now and then serves for a moment: then it may hold data, and is not made again.
  test("a seed without the memory to start is reported, and runs after its memory limit is raised", async (context) => {
    const key = { namespace: await sharedNamespace(), name: "starved" };
    const limits = (memory: string): object => ({ resources: { limits: { memory } } });
    const cluster = await applyCluster(key, { size: 1, version: currentEtcd, pod: limits("4Mi") });
    await untilReported(cluster, {
      reason: "MemberCannotStart",
      says: [/OOMKilled|StartError/, "spec.pod.resources.limits"],
    });
    await healed(context, cluster, () => patchSpec(key, { pod: limits("256Mi") }));
    const [cured] = await cluster.pods();
    assert.deepEqual(cured?.spec?.containers[0]?.resources?.limits, { memory: "256Mi" });
    await kube.delete(EtcdCluster, key);
  });
  taintedNode();

  badCase({
    what: "an environment variable that etcd cannot parse",
    name: "variable",
    spec: { pod: { etcdEnv: [{ name: heartbeat, value: "often" }] } },
    ...badEtcd(heartbeat),
    correct: { pod: { etcdEnv: [{ name: heartbeat, value: "150" }] } },
  });
  badCase({
    what: "a flag that etcd cannot parse",
    name: "flag",
    onlyInMatrix: true,
    spec: { etcd: { extraArgs: ["--heartbeat-interval=often"] } },
    ...badEtcd("heartbeat-interval"),
    correct: { etcd: { extraArgs: ["--heartbeat-interval=150"] } },
  });
  badCase({
    what: "contradictory flags",
    name: "flags",
    onlyInMatrix: true,
    spec: { etcd: { extraArgs: ["--election-timeout=10"] } },
    ...badEtcd("--election-timeout[10ms]"),
    correct: { etcd: null },
  });
  badCase({
    what: "an environment variable from a missing Secret",
    name: "secret",
    spec: { pod: { etcdEnv: [{ name: "TOKEN", valueFrom: { secretKeyRef: { name: "absent", key: "token" } } }] } },
    reason: "MemberCannotStart",
    says: ['secret "absent" not found', "create the Secret or ConfigMap that is missing"],
    correct: ({ namespace }: Key) =>
      kubectl("create", "secret", "generic", "absent", `--namespace=${namespace}`, "--from-literal=token=x"),
  });

  test("an unknown environment variable and busyboxImage are ignored", async () => {
    const key = { namespace: await sharedNamespace(), name: "unused" };
    const pod = { etcdEnv: [{ name: "ETCD_NOTHING_KNOWS_IT", value: "x" }], busyboxImage: "registry.invalid/busybox" };
    const cluster = await applyCluster(key, { size: 1, version: currentEtcd, pod });
    await cluster.untilHealthy();
    await kube.delete(EtcdCluster, key);
  });
}

/** Three members: a single one needs no domain. */
const wrongDomain = {
  spec: { size: 3, pod: { ClusterDomain: ".wrong.example" } },
  reason: "MemberCannotStart",
  says: ["etcd ended with exit code", "spec.pod.ClusterDomain"],
  correct: { pod: { ClusterDomain: null } },
} as const;

const spread = {
  maxSkew: 1,
  topologyKey: "example.com/no-such-zone",
  whenUnsatisfiable: "DoNotSchedule",
  labelSelector: { matchLabels: { app: "etcd" } },
};

function taintedNode(): void {
  const node = labNode(lab, 1).name;
  badCase({
    what: "a node with an untolerated taint",
    name: "taint",
    spec: { pod: { nodeSelector: { "kubernetes.io/hostname": node } } },
    prepare: () => kubectl("taint", "node", node, `${taint}=others:NoSchedule`, "--overwrite"),
    ...noNode,
    says: [...noNode.says, "untolerated taint"],
    correct: { pod: { tolerations: [{ key: taint, operator: "Exists" }] } },
    after: () => kubectl("taint", "node", node, `${taint}-`),
  });
}
