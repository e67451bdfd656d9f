// Everything of a lab that is still on the machine, one line each; empty when nothing is left.
import * as fs from "node:fs";
import * as path from "node:path";
import { routesInto } from "./addresses.ts";
import { cgroupsNamed } from "../nodes/cgroups.ts";
import { type LabConfig, labNodes, mostNodes } from "../config.ts";
import { labLoopDevices } from "../nodes/loop-devices.ts";
import { labMounts } from "../nodes/mounts.ts";
import { labFilterRules, labInterfaces, labNamespaces } from "../nodes/network.ts";
import { labProcesses } from "./processes.ts";
import { readRecord } from "./registry.ts";
import { stateFolders } from "../state.ts";

/** Links in the machine's own log folder into the lab. Nodes have a folder of their own, so there should be none. */
function strayLinks(lab: LabConfig): string[] {
  const folder = "/var/log/containers";
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .map((name) => path.join(folder, name))
    .filter((file) => fs.lstatSync(file).isSymbolicLink() && fs.readlinkSync(file).startsWith(`${lab.state}/`));
}

/** What a dead lab leaves in the kernel, whatever happens to its folder. */
export async function kernelTraces(lab: LabConfig): Promise<string[]> {
  const any = { ...lab, nodes: mostNodes }; // it may have had more nodes when it was started
  return [
    ...labProcesses(any).map(({ pid, command }) => `process ${pid} ${command.slice(0, 100)}`),
    ...labNamespaces(lab).map((name) => `network namespace ${name}`),
    ...labInterfaces(lab).map((name) => `interface ${name}`),
    ...(await routesInto(lab)).map((route) => `route ${route}`),
    ...(await labFilterRules(lab)).map((rule) => `filter rule ${rule}`),
    ...labMounts(lab).map((point) => `mount ${point}`),
    ...labLoopDevices(lab).map((device) => `loop device ${device}`),
    ...labNodes(any).flatMap((node) => cgroupsNamed(node.netns).map((group) => `control group ${group}`)),
  ];
}

export async function traces(lab: LabConfig): Promise<string[]> {
  return [
    ...(await kernelTraces(lab)),
    ...strayLinks(lab).map((file) => `link ${file}`),
    ...stateFolders(lab).map((entry) => `file ${entry}`),
    ...(readRecord(lab.name) === undefined ? [] : [`record of the lab "${lab.name}"`]),
  ];
}
