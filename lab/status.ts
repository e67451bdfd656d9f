// `status`: the labs of this machine, and what of them runs.
import { isReady } from "./control-plane/api.ts";
import { hostAddress, kubeconfigPath, type LabConfig } from "./config.ts";
import { isAlive, readDaemon } from "./machine/daemon.ts";
import { allRecords, isAlive as labIsAlive } from "./machine/registry.ts";
import { components } from "./up.ts";

const isRunning = (lab: LabConfig, component: string): boolean => {
  const daemon = readDaemon(lab, component);
  return daemon !== undefined && isAlive(daemon);
};

async function describe(lab: LabConfig): Promise<string> {
  const head = `${lab.name}: Kubernetes ${lab.kubernetes}, ${lab.nodes} nodes, ${lab.prefix}.0.0/16, ${lab.state}`;
  if (!labIsAlive(lab)) return `${head}\n  dead; the next up or down of this name cleans it up`;
  const away = components(lab).filter((component) => !isRunning(lab, component));
  return [
    head,
    `  API server ${hostAddress(lab)}:6443 ${(await isReady(lab)) ? "is ready" : "does not answer"}`,
    away.length === 0 ? "  every component runs" : `  not running: ${away.join(", ")}`,
    `  export KUBECONFIG=${kubeconfigPath(lab)}`,
  ].join("\n");
}

export async function status(): Promise<string> {
  const labs = allRecords();
  if (labs.length === 0) return "There is no lab on this machine.";
  return (await Promise.all(labs.map(describe))).join("\n");
}
