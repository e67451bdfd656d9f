// Removes a lab in any state: running, half started, killed, its folder deleted. It finds everything from the kernel and
// from the machine's records, not from the lab itself.
import { removeCgroup } from "./nodes/cgroups.ts";
import { type LabConfig, labNodes, mostNodes } from "./config.ts";
import { detachLoopDevices } from "./nodes/loop-devices.ts";
import { unmountAll } from "./nodes/mounts.ts";
import { removeNetwork } from "./nodes/network.ts";
import { killProcesses, labProcesses } from "./machine/processes.ts";
import { claim, lock, removeRecord } from "./machine/registry.ts";
import { type KeepOptions, removeState } from "./state.ts";
import { traces } from "./machine/traces.ts";

/** In order of dependency: processes hold mounts, mounts hold devices and folders. The record goes last. */
export async function tearDown(lab: LabConfig, keep: KeepOptions = { logs: false }): Promise<void> {
  const any = { ...lab, nodes: mostNodes };
  await killProcesses(() => labProcesses(any));
  await unmountAll(lab);
  await detachLoopDevices(lab);
  await removeNetwork(lab);
  await Promise.all(labNodes(any).map((node) => removeCgroup(node.netns)));
  removeState(lab, keep);
  removeRecord(lab.name);
}

type DownResult = { readonly t: "down"; readonly milliseconds: number } | { readonly t: "nothing" };

export async function down(lab: LabConfig): Promise<DownResult> {
  const release = await lock(lab.name, "being taken down");
  try {
    const began = Date.now();
    const found = claim(lab);
    const target = found.t === "ours" ? found.record : found.t === "remains" ? found.of : lab;
    if (found.t === "free" && (await traces(lab)).length === 0) return { t: "nothing" };
    await tearDown(target);
    return { t: "down", milliseconds: Date.now() - began };
  } finally {
    await release();
  }
}
