// Slows a disk: limits the reads and writes of a pod's containers per second. It affects reads and flushed writes, which
// is what etcd waits for; on cgroup v1 the kernel writes the rest back unthrottled.
import * as fs from "node:fs";
import * as path from "node:path";
import { unified } from "../nodes/cgroups.ts";
import { run } from "../machine/command.ts";
import { type LabConfig, UsageError } from "../config.ts";
import { onNode } from "../nodes/mounts.ts";
import { type RunningPod, cgroupOf, findPod, parsePodName, podText } from "../nodes/pods.ts";
import { type Effect, type Throttle, inject } from "./record.ts";
import { volumesOf } from "./volumes.ts";

type SlowDisk = Extract<Effect, { kind: "slow-disk" }>;

/** Ends by itself with the container: the next one has another cgroup. */
export async function slowDisk(lab: LabConfig, name: string, iops: number): Promise<void> {
  if (!Number.isInteger(iops) || iops < 1) throw new UsageError("IOPS is a whole number above 0.");
  const pod = await findPod(lab, parsePodName(name));
  const devices = await devicesOf(pod);
  if (devices.length === 0)
    throw new UsageError(`The pod ${podText(pod)} has no files on a disk that the kernel can throttle.`);
  const throttles = pod.containers.flatMap(({ pid }) => throttlesFor(cgroupOf(pid, "blkio"), devices, iops));
  if (!throttles.every(({ file }) => fs.existsSync(file)))
    throw new UsageError("This kernel has no I/O throttling by cgroup, so it cannot slow a disk.");
  const effect: SlowDisk = { kind: "slow-disk", throttles };
  await inject(
    lab,
    `slow-disk ${podText(pod)}`,
    effect,
    async () => throttles.forEach(({ file, set }) => fs.writeFileSync(file, set)),
    speedUp,
  );
}

function throttlesFor(cgroup: string, devices: readonly string[], iops: number): Throttle[] {
  if (unified())
    return devices.map((device) => ({
      file: path.join(cgroup, "io.max"),
      set: `${device} riops=${iops} wiops=${iops}`,
      clear: `${device} riops=max wiops=max`,
    }));
  return devices.flatMap((device) =>
    ["read", "write"].map((way) => ({
      file: path.join(cgroup, `blkio.throttle.${way}_iops_device`),
      set: `${device} ${iops}`,
      clear: `${device} 0`,
    })),
  );
}

/** The disks under the pod's volumes and under its containers' own files, as MAJOR:MINOR. */
async function devicesOf(pod: RunningPod): Promise<string[]> {
  const folders = [pod.node.root, ...volumesOf(pod).map((volume) => volume.source)];
  const [enter = "", ...args] = [...onNode(pod.node), "stat", "--format=%Hd:%Ld", ...folders];
  const devices = (await run(enter, args)).trim().split("\n").map(wholeDisk);
  return [...new Set(devices.filter((device) => device !== undefined))];
}

/** Throttles apply to whole disks, not to partitions. Memory and overlays are not disks. */
function wholeDisk(device: string): string | undefined {
  const entry = `/sys/dev/block/${device}`;
  if (!fs.existsSync(entry)) return undefined;
  if (!fs.existsSync(path.join(entry, "partition"))) return device;
  return fs.readFileSync(path.join(fs.realpathSync(entry), "..", "dev"), "utf8").trim();
}

export async function speedUp(effect: SlowDisk): Promise<void> {
  for (const { file, clear } of effect.throttles) if (fs.existsSync(file)) fs.writeFileSync(file, clear);
}
