// The top cgroup of each node. The containers of a node are below it, in every hierarchy (cgroup v1) or in the only one
// (cgroup v2).
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const mountPoint = "/sys/fs/cgroup";

export const unified = (): boolean => fs.existsSync(path.join(mountPoint, "cgroup.controllers"));

/** cgroup v1 has one folder per controller. Links are aliases, and the `unified` folder has no controllers. */
function hierarchies(): string[] {
  if (unified()) return [mountPoint];
  return fs
    .readdirSync(mountPoint, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.join(mountPoint, entry.name));
}

function enableControllers(group: string): void {
  const controllers = fs.readFileSync(path.join(group, "cgroup.controllers"), "utf8").trim().split(" ");
  for (const controller of controllers) {
    try {
      fs.writeFileSync(path.join(group, "cgroup.subtree_control"), `+${controller}`);
    } catch {
      // a controller that cannot be delegated, such as cpu with real-time tasks, must not stop the others
    }
  }
}

export function makeCgroup(name: string): void {
  for (const hierarchy of hierarchies()) {
    const group = path.join(hierarchy, name);
    fs.mkdirSync(group, { recursive: true });
    if (unified()) {
      enableControllers(hierarchy);
      enableControllers(group);
    }
    // A new cpuset of cgroup v1 is empty, and nothing could run in it.
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      const above = path.join(hierarchy, file);
      if (!unified() && fs.existsSync(above)) fs.writeFileSync(path.join(group, file), fs.readFileSync(above));
    }
  }
}

export function cgroupsNamed(name: string): string[] {
  return hierarchies()
    .map((hierarchy) => path.join(hierarchy, name))
    .filter((group) => fs.existsSync(group));
}

/** A process that is killed ends only when its last writes are done, however slow a fault has made the disk. */
export function unthrottle(group: string): void {
  for (const [name, clear] of [
    ["blkio.throttle.read_iops_device", "0"],
    ["blkio.throttle.write_iops_device", "0"],
    ["io.max", "rbps=max wbps=max riops=max wiops=max"],
  ] as const) {
    const file = path.join(group, name);
    if (!fs.existsSync(file)) continue;
    const devices = fs
      .readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line) => line.split(" ")[0] || []);
    for (const device of devices) fs.writeFileSync(file, `${device} ${clear}`);
  }
}

function removeTree(group: string): void {
  unthrottle(group);
  for (const entry of fs.readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory()) removeTree(path.join(group, entry.name));
  fs.rmdirSync(group);
}

/** A cgroup stays busy until its last dead process is reaped, so this retries for a while. */
export async function removeCgroup(name: string, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (const group of cgroupsNamed(name)) {
    for (;;) {
      try {
        removeTree(group);
        break;
      } catch (error) {
        if (!fs.existsSync(group)) break;
        if (Date.now() > deadline) throw error;
        await sleep(30);
      }
    }
  }
}
