// What people and Kubernetes do to a cluster: to its pods, its list of members, and what stands around them.
import { readdir, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { run } from "../../../lab/command.ts";
import { type LabNode, labNodes } from "../../../lab/config.ts";
import { readDaemon, signalDaemon } from "../../../lab/daemon.ts";
import { killContainer } from "../../../lab/faults/containers.ts";
import { containerOf, findPod } from "../../../lab/pods.ts";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { Pod } from "../../../src/kube/objects/kinds.ts";
import type { Key, Kind, KubeObject } from "../../../src/kube/objects/objects.ts";
import { ownerReference } from "../../../src/kube/objects/owners.ts";
import { kubectl } from "../../support/kubectl.ts";
import type { TestCluster } from "./cluster.ts";
import { kube, lab, patience } from "./ground.ts";
import type { WholeMember } from "./whole.ts";

/** At the same moment, as far as the API server goes. */
export async function deletePods({ namespace }: TestCluster, ...names: string[]): Promise<void> {
  await kubectl("delete", "pods", `--namespace=${namespace}`, "--wait=false", ...names);
}

/** As a drain does it; fails while the budget forbids it. */
export async function evictPod({ namespace }: TestCluster, name: string): Promise<true> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } };
  const address = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  await run("kubectl", ["create", `--raw=${address}`, "--filename=-"], { input: JSON.stringify(eviction) });
  return true;
}

/** Its kubelet ends it and leaves it there, as when a node runs out of something. */
export async function failPod({ namespace }: TestCluster, name: string): Promise<void> {
  await kube.mergePatch(Pod, { namespace, name }, { spec: { activeDeadlineSeconds: 1 } });
}

/**
 * Pods that are deleted on that node go on until the work is done. Else a member's end would be a race: its kubelet tells
 * it to end at the same moment as the operator hears of it.
 */
export async function whileKubeletStandsStill(node: string, work: () => Promise<void>): Promise<void> {
  const kubelet = readDaemon(lab, `kubelet-${node}`);
  if (kubelet === undefined || !signalDaemon(kubelet, "SIGSTOP")) throw new Error(`${node} has no kubelet`);
  try {
    await work();
  } finally {
    signalDaemon(kubelet, "SIGCONT");
  }
}

/** As a person does it who does not know of the operator. */
export async function removeByHand({ namespace }: TestCluster, victim: WholeMember, asked: WholeMember): Promise<void> {
  // It refuses while links between members are younger than five seconds.
  await waitFor(
    "etcd to let the member go",
    () => kubectl("exec", `--namespace=${namespace}`, asked.name, "--", "etcdctl", "member", "remove", victim.id),
    { timeoutMs: patience, everyMs: 1_000 },
  );
}

/** Deletes a Service or the like; what it gives waits until another one stands in its place. */
export async function takeAway<T extends KubeObject>(kind: Kind<T>, key: Key): Promise<() => Promise<true>> {
  const before = await kube.get(kind, key);
  await kube.delete(kind, key);
  return () =>
    waitFor(
      `another ${kind.kind} ${key.name}`,
      async () => (await kube.get(kind, key)).metadata?.uid !== before.metadata?.uid || undefined,
      { timeoutMs: patience },
    );
}

/** With labels and owner of the cluster's pods; etcd has never heard of it. Its name. */
export async function podOfNoMember(cluster: TestCluster): Promise<string> {
  const owner = await cluster.get();
  const name = `${cluster.name}-nobody`;
  await kube.create(Pod, {
    metadata: {
      name,
      namespace: cluster.namespace,
      labels: { app: "etcd", etcd_cluster: cluster.name, etcd_node: name },
      ownerReferences: [ownerReference(EtcdCluster, owner)],
    },
    spec: {
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "etcd",
          image: "lab.local/probe:1",
          command: ["/usr/local/bin/probe", "serve"],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  });
  return name;
}

/** Overwrites the log that a member must read when it starts: it ends at every start from then on. */
export async function spoilData({ namespace }: TestCluster, name: string): Promise<void> {
  const { pid } = containerOf(await findPod(lab, { namespace, name }), "etcd");
  const folder = `/proc/${pid}/root/var/etcd/data/member/wal`;
  const logs = (await readdir(folder)).filter((file) => file.endsWith(".wal"));
  for (const file of logs) await writeFile(path.join(folder, file), "not a log any more ".repeat(100));
}

/** As when a disk is exchanged under a member: its data is gone and its process dies. The kubelet starts it again. */
export async function wipeData({ namespace }: TestCluster, name: string): Promise<void> {
  const { pid } = containerOf(await findPod(lab, { namespace, name }), "etcd");
  // Stopped first, so that it writes nothing back between the two.
  process.kill(pid, "SIGSTOP");
  await rm(`/proc/${pid}/root/var/etcd/data`, { recursive: true });
  process.kill(pid, "SIGKILL");
}

/**
 * Kills the member's process until its kubelet cannot start it again for the reason given. A kubelet may start it once
 * more with what it still remembers of the ConfigMap or image that was taken away.
 */
export async function killUntilWaiting(cluster: TestCluster, name: string, reasons: readonly string[]): Promise<void> {
  let seen = "";
  const pod = `${cluster.namespace}/${name}`;
  await killContainer(lab, pod);
  await waitFor(
    `${name} to wait with ${reasons.join(" or ")}`,
    async () => {
      const [container] = (await cluster.pod(name))?.status?.containerStatuses ?? [];
      seen = JSON.stringify(container?.state);
      if (reasons.includes(container?.state?.waiting?.reason ?? "")) return true;
      const startedAgain = container?.state?.running !== undefined && container.lastState?.terminated !== undefined;
      if (startedAgain) await killContainer(lab, pod);
      return undefined;
    },
    { timeoutMs: patience, lastSeen: () => seen },
  );
}

const ctr = (node: LabNode, ...args: string[]): Promise<string> =>
  run("ctr", ["--address", node.containerdSocket, "--namespace", "k8s.io", "images", ...args]);

/** Another name of an image that is on every node, or on one. */
export async function tagImage(image: string, tag: string, nodes = labNodes(lab)): Promise<void> {
  await Promise.all(nodes.map((node) => ctr(node, "tag", "--force", image, tag)));
}

/** As when a node's images are collected: a container that runs goes on, and cannot be started again without a registry. */
export async function removeImage(tag: string, node: string): Promise<LabNode> {
  const found = labNodes(lab).find(({ name }) => name === node);
  if (found === undefined) throw new Error(`the lab has no node ${node}`);
  await ctr(found, "rm", "--sync", tag);
  return found;
}
