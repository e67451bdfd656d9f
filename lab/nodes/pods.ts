// Finds the node, address, processes and mounts of a pod. It asks the nodes' containerd and not the API server, so that
// faults work while the API server is down.
import * as fs from "node:fs";
import * as path from "node:path";
import { run } from "../machine/command.ts";
import { type LabConfig, type LabNode, UsageError, labNodes } from "../config.ts";
import { unified } from "./cgroups.ts";
import { isAlive, readDaemon } from "../machine/daemon.ts";

interface PodName {
  readonly namespace: string;
  readonly name: string;
}

interface ContainerMount {
  /** Its path on the node. */
  readonly source: string;
  readonly destination: string;
}

interface RunningContainer {
  readonly name: string;
  readonly id: string;
  /** The pid of its main process on the machine. */
  readonly pid: number;
  readonly mounts: readonly ContainerMount[];
}

export interface RunningPod extends PodName {
  readonly uid: string;
  readonly node: LabNode;
  readonly address: string;
  readonly containers: readonly RunningContainer[];
}

export const podText = (pod: PodName): string => `${pod.namespace}/${pod.name}`;

export function parsePodName(text: string): PodName {
  const [namespace = "", name = "", ...rest] = text.split("/");
  if (namespace === "" || name === "" || rest.length > 0)
    throw new UsageError(`A pod is named NAMESPACE/NAME, as in default/etcd-0, not "${text}".`);
  return { namespace, name };
}

interface ContainerInfo {
  readonly ID: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Spec: { readonly mounts?: readonly { source: string; destination: string; type?: string }[] };
}

const ctr = (node: LabNode, ...args: string[]): Promise<string> =>
  run("ctr", ["--address", node.containerdSocket, "--namespace", "k8s.io", ...args]);

async function runningTasks(node: LabNode): Promise<Map<string, number>> {
  const tasks = new Map<string, number>();
  for (const line of (await ctr(node, "tasks", "list")).split("\n").slice(1)) {
    const [id, pid, status] = line.trim().split(/\s+/);
    if (id !== undefined && status === "RUNNING") tasks.set(id, Number(pid));
  }
  return tasks;
}

async function addressOf(pid: number): Promise<string | undefined> {
  const text = await run("nsenter", [`--net=/proc/${pid}/ns/net`, "ip", "-4", "-json", "address", "show", "eth0"]);
  const links = JSON.parse(text) as { addr_info?: { local?: string }[] }[];
  return links[0]?.addr_info?.[0]?.local;
}

async function findOnNode(node: LabNode, pod: PodName): Promise<RunningPod | undefined> {
  const filter = `labels."io.kubernetes.pod.namespace"==${pod.namespace},labels."io.kubernetes.pod.name"==${pod.name}`;
  const ids = (await ctr(node, "containers", "list", "--quiet", filter)).split("\n").filter((id) => id !== "");
  if (ids.length === 0) return undefined;
  const tasks = await runningTasks(node);
  const containers: RunningContainer[] = [];
  let sandbox: { pid: number; uid: string } | undefined;
  for (const id of ids) {
    const pid = tasks.get(id);
    if (pid === undefined) continue; // it ended; kubelet keeps it for its log
    const info = JSON.parse(await ctr(node, "containers", "info", id)) as ContainerInfo;
    if (info.Labels["io.cri-containerd.kind"] === "sandbox")
      sandbox = { pid, uid: info.Labels["io.kubernetes.pod.uid"] ?? "" };
    else
      containers.push({
        name: info.Labels["io.kubernetes.container.name"] ?? "",
        id,
        pid,
        mounts: info.Spec.mounts?.filter((mount) => mount.type === "bind") ?? [],
      });
  }
  if (sandbox === undefined) return undefined;
  const address = await addressOf(sandbox.pid);
  if (address === undefined) throw new UsageError(`The pod ${podText(pod)} has no address yet.`);
  return { ...pod, uid: sandbox.uid, node, address, containers };
}

export async function findPod(lab: LabConfig, pod: PodName): Promise<RunningPod> {
  const up = labNodes(lab).filter((node) => {
    const containerd = readDaemon(lab, `containerd-${node.name}`);
    return containerd !== undefined && isAlive(containerd);
  });
  const found = (await Promise.all(up.map((node) => findOnNode(node, pod)))).find((on) => on !== undefined);
  if (found === undefined)
    throw new UsageError(`No pod ${podText(pod)} runs on a node of the lab "${lab.name}" that has power.`);
  return found;
}

/** The named container, or the only one. */
export function containerOf(pod: RunningPod, name?: string): RunningContainer {
  const running = pod.containers.map((container) => container.name).join(", ") || "none";
  const chosen =
    name === undefined && pod.containers.length === 1
      ? pod.containers[0]
      : pod.containers.find((container) => container.name === name);
  if (chosen !== undefined) return chosen;
  throw new UsageError(
    name === undefined
      ? `The pod ${podText(pod)} has several containers; name one: ${running}.`
      : `The pod ${podText(pod)} has no running container "${name}"; running: ${running}.`,
  );
}

/** The cgroup of the process: in the hierarchy of the controller (v1), or in the only one (v2). */
export function cgroupOf(pid: number, controller: "pids" | "blkio" | "memory"): string {
  for (const line of fs.readFileSync(`/proc/${pid}/cgroup`, "utf8").split("\n")) {
    const [number, controllers = "", ...rest] = line.split(":");
    const group = rest.join(":");
    if (unified() && number === "0") return path.join("/sys/fs/cgroup", group);
    if (!unified() && controllers.split(",").includes(controller))
      return path.join("/sys/fs/cgroup", controllers, group);
  }
  throw new Error(`process ${pid} is in no cgroup of ${controller}`);
}

/** Every process in the cgroup and below it; empty when the cgroup is gone. */
export function processesIn(group: string): number[] {
  try {
    const below = fs.readdirSync(group, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const own = fs.readFileSync(path.join(group, "cgroup.procs"), "utf8").split("\n");
    return [
      ...own.filter((line) => line !== "").map(Number),
      ...below.flatMap((entry) => processesIn(path.join(group, entry.name))),
    ];
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENODEV")) return [];
    throw error;
  }
}
