// Disruptions: what people and Kubernetes do to the pods, the member list, the data and the objects of a cluster.
import { readdir, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { run } from "../../../lab/machine/command.ts";
import { type LabNode, labNodes } from "../../../lab/config.ts";
import { readDaemon, signalDaemon } from "../../../lab/machine/daemon.ts";
import { untilStopped } from "../../../lab/machine/stopped.ts";
import { killContainer } from "../../../lab/faults/containers.ts";
import { containerOf, findPod } from "../../../lab/nodes/pods.ts";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { AlarmRequest_AlarmAction, AlarmType, Maintenance } from "../../../src/etcd/gen/etcdserverpb/rpc_pb.ts";
import { unary } from "../../../src/etcd/grpc.ts";
import { type MemberId, wireId } from "../../../src/etcd/ids.ts";
import type { Member, NewMember } from "../../../src/etcd/member.ts";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import { Pod } from "../../../src/kube/objects/kinds.ts";
import type { Key, Kind, KubeObject } from "../../../src/kube/objects/objects.ts";
import { ownerReference } from "../../../src/kube/objects/owners.ts";
import { Http2Origin } from "../../../src/transport/origin.ts";
import { kubectl } from "../../support/kubectl.ts";
import type { TestCluster } from "./cluster.ts";
import { kube, lab, patience, patiently } from "./environment.ts";
import type { HealthyMember } from "./healthy.ts";

/**
 * All at once: kubectl deletes one after another, and on a busy machine the operator could replace the first before the last
 * is deleted. One that the operator has deleted meanwhile is fine.
 */
export async function deletePods({ namespace }: TestCluster, ...names: string[]): Promise<void> {
  const unlessGone = (error: unknown): void => {
    if (!isNotFound(error)) throw error;
  };
  await Promise.all(names.map((name) => kube.delete(Pod, { namespace, name }).catch(unlessGone)));
}

interface Evictions {
  readonly evicted: readonly string[];
  /** What the API server said about the others. */
  readonly refusals: readonly unknown[];
}

/** Like several `kubectl drain` that ask at the same moment: the PodDisruptionBudget may forbid some, or all. */
export async function evictPods({ namespace }: TestCluster, names: readonly string[]): Promise<Evictions> {
  const evict = async (name: string): Promise<string> => {
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } };
    await kube.raw("POST", `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, eviction);
    return name;
  };
  const asked = await Promise.allSettled(names.map(evict));
  return {
    evicted: asked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])),
    refusals: asked.flatMap((one) => (one.status === "rejected" ? [one.reason] : [])),
  };
}

/** The kubelet fails the pod and leaves the object, as in an eviction under node pressure. */
export async function failPod({ namespace }: TestCluster, name: string): Promise<void> {
  await kube.mergePatch(Pod, { namespace, name }, { spec: { activeDeadlineSeconds: 1 } });
}

/**
 * Pods deleted on that node keep running until the work is done. Otherwise the kubelet and the operator would race: both
 * see the deletion at the same time.
 */
export async function whileKubeletIsPaused(node: string, work: () => Promise<void>): Promise<void> {
  const kubelet = readDaemon(lab, `kubelet-${node}`);
  if (kubelet === undefined || !signalDaemon(kubelet, "SIGSTOP")) throw new Error(`${node} has no kubelet`);
  try {
    await untilStopped(kubelet.pid);
    await work();
  } finally {
    signalDaemon(kubelet, "SIGCONT");
  }
}

/** `etcdctl member remove`, behind the operator's back. */
export async function removeByHand(
  { namespace }: TestCluster,
  victim: HealthyMember,
  asked: HealthyMember,
): Promise<void> {
  const remove = (): Promise<string> =>
    kubectl("exec", `--namespace=${namespace}`, asked.name, "--", "etcdctl", "member", "remove", victim.id);
  // One whose answer came too late for etcdctl has removed it all the same.
  const unlessRemoved = (error: unknown): true => {
    if (String(error).includes("member not found")) return true;
    throw error;
  };
  // etcd refuses while connections between members are younger than five seconds.
  await waitFor("etcd to remove the member", () => remove().catch(unlessRemoved), {
    timeoutMs: patience,
    everyMs: 1_000,
  });
}

/** `etcdctl member add`. etcd refuses while a voter is missing; one whose answer was lost has been added. */
export async function addByHand({ etcd }: HealthyMember, added: NewMember): Promise<Member> {
  return waitFor(
    `etcd to admit ${added.peerUrls.join(", ")}`,
    async () => {
      const { members } = await etcd.memberList({ linearizable: true });
      const there = members.find(({ peerUrls }) => isDeepStrictEqual(peerUrls, added.peerUrls));
      return there ?? (await etcd.memberAdd(added)).member;
    },
    { timeoutMs: patience },
  );
}

/** Returns a function that waits until the operator has recreated the object. */
export async function deleteObject<T extends KubeObject>(kind: Kind<T>, key: Key): Promise<() => Promise<true>> {
  const before = await kube.get(kind, key);
  await kube.delete(kind, key);
  return () =>
    waitFor(
      `another ${kind.kind} ${key.name}`,
      async () => (await kube.get(kind, key)).metadata?.uid !== before.metadata?.uid || undefined,
      { timeoutMs: patience },
    );
}

/** A pod with the labels and owner of a member that etcd does not list. Returns its name. */
export async function createOrphanPod(cluster: TestCluster): Promise<string> {
  const owner = await cluster.get();
  const name = `${cluster.name}-orphan`;
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

/** As etcd does it when it has compared its members. */
export async function raiseCorrupt(address: string, member: MemberId): Promise<void> {
  const origin = new Http2Origin(`http://${address}:2379`);
  try {
    const alarm = { action: AlarmRequest_AlarmAction.ACTIVATE, memberID: wireId(member), alarm: AlarmType.CORRUPT };
    await waitFor("the alarm to be raised", () => unary(origin, Maintenance.method.alarm, alarm, patiently), {
      timeoutMs: patience,
    });
  } finally {
    origin.close();
  }
}

/** Overwrites the WAL: etcd exits at every start from then on. */
export async function corruptLog({ namespace }: TestCluster, name: string): Promise<void> {
  const { pid } = containerOf(await findPod(lab, { namespace, name }), "etcd");
  const folder = `/proc/${pid}/root/var/etcd/data/member/wal`;
  const logs = (await readdir(folder)).filter((file) => file.endsWith(".wal"));
  for (const file of logs) await writeFile(path.join(folder, file), "not a log any more ".repeat(100));
}

/** Deletes the data directory and kills etcd, like a node that lost its disk. The kubelet restarts the container. */
export async function wipeData({ namespace }: TestCluster, name: string): Promise<void> {
  const { pid } = containerOf(await findPod(lab, { namespace, name }), "etcd");
  // Paused first, so that it cannot write anything back in between.
  process.kill(pid, "SIGSTOP");
  await untilStopped(pid);
  await rm(`/proc/${pid}/root/var/etcd/data`, { recursive: true });
  process.kill(pid, "SIGKILL");
}

/**
 * Kills etcd until the container waits with one of these reasons. The kubelet may restart it once more from its cache of
 * the ConfigMap or image that was deleted: then it is killed again once it is ready, which ends what could be a crash loop.
 */
export async function killUntilWaiting(cluster: TestCluster, name: string, reasons: readonly string[]): Promise<void> {
  let seen = "";
  let killedAt = -1;
  await waitFor(
    `${name} to wait with ${reasons.join(" or ")}`,
    async () => {
      const { containerStatuses: [container] = [] } = (await cluster.pod(name))?.status ?? {};
      seen = JSON.stringify(container);
      if (container === undefined) return undefined;
      if (reasons.includes(container.state?.waiting?.reason ?? "")) return true;
      if (container.ready && container.restartCount > killedAt) {
        await killContainer(lab, `${cluster.namespace}/${name}`);
        killedAt = container.restartCount;
      }
      return undefined;
    },
    { timeoutMs: patience, lastSeen: () => seen },
  );
}

const ctr = (node: LabNode, ...args: string[]): Promise<string> =>
  run("ctr", ["--address", node.containerdSocket, "--namespace", "k8s.io", "images", ...args]);

/** Adds a tag to an image on these nodes. */
export async function tagImage(image: string, tag: string, nodes = labNodes(lab)): Promise<void> {
  await Promise.all(nodes.map((node) => ctr(node, "tag", "--force", image, tag)));
}

/** Like image garbage collection: the running container goes on, and a restart needs a pull. */
export async function removeImage(tag: string, node: string): Promise<LabNode> {
  const found = labNodes(lab).find(({ name }) => name === node);
  if (found === undefined) throw new Error(`the lab has no node ${node}`);
  await ctr(found, "rm", "--sync", tag);
  return found;
}
