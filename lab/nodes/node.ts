// One node of the lab: its containerd, kubelet and kube-proxy, each inside the node's network and mounts.
import * as fs from "node:fs";
import * as path from "node:path";
import { tryRun } from "../machine/command.ts";
import type { LabConfig, LabNode } from "../config.ts";
import { type Daemon, startDaemon } from "../machine/daemon.ts";
import { makeCgroup } from "./cgroups.ts";
import { componentKubeconfig } from "../control-plane/kubeconfig.ts";
import { dropMountNamespace, makeMountNamespace, onNode } from "./mounts.ts";
import { settingsFiles, settingsPath } from "./node-settings.ts";
import { killProcesses, nodeProcesses } from "../machine/processes.ts";
import { isHealthy, waitForDaemon } from "../control-plane/readiness.ts";

/** cgroup, mounts and settings: what must exist before anything runs on the node. */
export async function prepareNode(lab: LabConfig, node: LabNode): Promise<void> {
  makeCgroup(node.netns);
  await makeMountNamespace(node);
  for (const { file, text } of settingsFiles(lab, node)) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
}

export async function startContainerd(lab: LabConfig, node: LabNode, signal: AbortSignal): Promise<void> {
  fs.rmSync(node.containerdSocket, { force: true });
  const daemon = startDaemon(lab, `containerd-${node.name}`, [
    ...onNode(node),
    "containerd",
    "--config",
    settingsPath(node, "containerd"),
  ]);
  const answers = async (): Promise<boolean> =>
    fs.existsSync(node.containerdSocket) &&
    (await tryRun("ctr", ["-a", node.containerdSocket, "version"])) !== undefined;
  await waitForDaemon(lab, daemon, answers, signal);
}

function startKubelet(lab: LabConfig, node: LabNode): Daemon {
  return startDaemon(lab, `kubelet-${node.name}`, [
    ...onNode(node),
    path.join(lab.bin, "kubelet"),
    `--config=${settingsPath(node, "kubelet")}`,
    `--kubeconfig=${componentKubeconfig(lab, node.name)}`,
    `--hostname-override=${node.name}`,
    `--node-ip=${node.address}`,
    `--root-dir=${path.join(node.root, "kubelet")}`,
    `--node-labels=topology.kubernetes.io/zone=${node.zone}`,
  ]);
}

function startProxy(lab: LabConfig, node: LabNode): Daemon {
  const settings = `--config=${settingsPath(node, "kube-proxy")}`;
  return startDaemon(lab, `kube-proxy-${node.name}`, [...onNode(node), path.join(lab.bin, "kube-proxy"), settings]);
}

interface Agents {
  readonly kubelet: Daemon;
  readonly proxy: Daemon;
}

export const startAgents = (lab: LabConfig, node: LabNode): Agents => ({
  kubelet: startKubelet(lab, node),
  proxy: startProxy(lab, node),
});

/** Whether kube-proxy of the node is ready. */
export const carriesServices = (node: LabNode): Promise<boolean> => isHealthy(`http://${node.address}:10256/healthz`);

/** A power cut: kills agents and containers at once and drops all mounts. The disk stays. */
export async function powerOff(lab: LabConfig, node: LabNode): Promise<void> {
  await killProcesses(() => nodeProcesses(lab, node));
  await dropMountNamespace(node.mountns);
  fs.rmSync(path.join(node.root, "containerd-state"), { recursive: true, force: true });
}

/** Starts a node that was powered off, with its disk. */
export async function powerOn(lab: LabConfig, node: LabNode, signal: AbortSignal): Promise<void> {
  await prepareNode(lab, node);
  await startContainerd(lab, node, signal);
  startAgents(lab, node);
}
