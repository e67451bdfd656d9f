// The mount namespace of each node. It has everything that containerd and kubelet mount or would leave in the machine's
// /run and /var. Dropping its handle removes all of that at once, even after the lab was killed and its folder deleted.
import * as fs from "node:fs";
import { availableParallelism } from "node:os";
import * as path from "node:path";
import { run, tryRun } from "../machine/command.ts";
import { type LabConfig, type LabNode, machineFolder } from "../config.ts";
import { stateFolders } from "../state.ts";

/** The command prefix that runs a command on the node, with its network and mounts. */
export const onNode = (node: LabNode): string[] => [
  "nsenter",
  `--net=/run/netns/${node.netns}`,
  `--mount=${node.mountns}`,
];

const handleFolder = (lab: LabConfig): string => path.join(machineFolder, lab.name);

/** Every mount point of this machine, outermost first. */
function mountPoints(): string[] {
  return fs
    .readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4])
    .filter((point) => point !== undefined)
    .map((point) => point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))));
}

const isMounted = (point: string): boolean => mountPoints().includes(point);

/** The handles must be on a private mount: the kernel refuses them elsewhere. */
export async function prepareHandles(lab: LabConfig): Promise<void> {
  const folder = handleFolder(lab);
  fs.mkdirSync(folder, { recursive: true });
  if (isMounted(folder)) return;
  await run("mount", ["--bind", folder, folder]);
  await run("mount", ["--make-private", folder]);
}

/** Folders on the node's disk, and the fixed paths of the machine that they are mounted over. */
const kept: readonly (readonly [string, string])[] = [
  ["log", "/var/log"],
  ["cni-results", "/var/lib/cni"],
  ["kubelet-fixed", "/var/lib/kubelet"],
];

// The last line is what init does on a real machine, so that volumes with mount propagation work.
const setUp = `set -e
mount -t tmpfs -o mode=755 tmpfs /run
while [ $# -gt 0 ]; do mount --bind "$1" "$2"; shift 2; done
mount --make-rshared /`;

/** Recreates the node's namespace, as a reboot does: /run is empty, the disk is kept. */
export async function makeMountNamespace(node: LabNode): Promise<void> {
  await dropMountNamespace(node.mountns);
  fs.writeFileSync(node.mountns, "");
  const binds = kept.flatMap(([name, target]) => {
    const source = path.join(node.root, name);
    fs.mkdirSync(source, { recursive: true });
    fs.mkdirSync(target, { recursive: true });
    return [source, target];
  });
  await pinNewNamespace(node.mountns, ["sh", "-c", setUp, "sh", ...binds]);
}

/**
 * Linux 6.18 numbers namespaces per processor and refuses to pin one with a lower number than that of its creator, which
 * can happen when the lab runs in a container. On another processor it gets another number, so this tries all of them.
 */
async function pinNewNamespace(handle: string, command: readonly string[]): Promise<void> {
  const unshare = ["unshare", `--mount=${handle}`, "--propagation", "private", ...command];
  for (let processor = 0; processor < availableParallelism(); processor++)
    if ((await tryRun("taskset", ["--cpu-list", String(processor), ...unshare])) !== undefined) return;
  await run("unshare", unshare.slice(1));
}

export async function dropMountNamespace(handle: string): Promise<void> {
  while (isMounted(handle)) await run("umount", [handle]);
  fs.rmSync(handle, { force: true });
}

/** Drops the handles of all nodes of the lab, however many it had, and their folder. */
async function dropMountNamespaces(lab: LabConfig): Promise<void> {
  const folder = handleFolder(lab);
  if (!fs.existsSync(folder)) return;
  for (const name of fs.readdirSync(folder)) await dropMountNamespace(path.join(folder, name));
  if (isMounted(folder)) await run("umount", [folder]);
  fs.rmSync(folder, { recursive: true, force: true });
}

/** Mounts of the lab in the machine's own namespace: the handles, and mounts below the lab's folder. */
export function labMounts(lab: LabConfig): string[] {
  const folders = [handleFolder(lab), ...stateFolders(lab)];
  return mountPoints().filter((point) => folders.some((folder) => point === folder || point.startsWith(`${folder}/`)));
}

export async function unmountAll(lab: LabConfig): Promise<void> {
  await dropMountNamespaces(lab);
  for (const point of labMounts(lab).reverse()) await run("umount", ["--lazy", point]);
}
