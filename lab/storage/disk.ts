// The disk of a volume: a sparse file with XFS behind a loop device. Its size is enforced, and it can grow while it is
// mounted (ext4 would need a capability that containers often lack).
import * as fs from "node:fs";
import * as path from "node:path";
import { type LabConfig } from "../config.ts";
import { run, tryRun } from "../machine/command.ts";

/** The minimum of XFS. */
const smallestDisk = 300 * 2 ** 20;

export const diskFolder = (lab: LabConfig): string => path.join(lab.state, "volumes");
const diskFile = (lab: LabConfig, volume: string): string => path.join(diskFolder(lab), `${volume}.img`);

interface Disk {
  device: string;
  bytes: number;
}

/** Creates the disk, or completes what an earlier try left. */
export async function makeDisk(lab: LabConfig, volume: string, bytes: number): Promise<Disk> {
  const file = diskFile(lab, volume);
  const size = Math.max(bytes, smallestDisk);
  fs.mkdirSync(diskFolder(lab), { recursive: true });
  if (!fs.existsSync(file)) {
    const draft = `${file}.draft`;
    fs.rmSync(draft, { force: true });
    await run("truncate", ["-s", String(size), draft]);
    await run("mkfs.xfs", ["-q", draft]);
    fs.renameSync(draft, file);
  }
  const device = (await deviceOf(file)) ?? (await run("losetup", ["--find", "--show", file])).trim();
  return { device, bytes: size };
}

/** Gives the device its new size; the node's kubelet then grows the file system on it. */
export async function growDisk(lab: LabConfig, volume: string, bytes: number): Promise<void> {
  const file = diskFile(lab, volume);
  const device = await deviceOf(file);
  if (device === undefined) throw new Error(`volume ${volume} has no disk`);
  await run("truncate", ["-s", String(bytes), file]);
  await run("losetup", ["--set-capacity", device]);
}

/** A device that is still mounted on a node goes away with that mount. */
export async function removeDisk(lab: LabConfig, volume: string): Promise<void> {
  const file = diskFile(lab, volume);
  const device = await deviceOf(file);
  if (device !== undefined) await tryRun("losetup", ["--detach", device]);
  fs.rmSync(file, { force: true });
}

async function deviceOf(file: string): Promise<string | undefined> {
  const listed = await tryRun("losetup", ["--associated", file, "--noheadings", "--output", "NAME"]);
  return listed?.split("\n").find((line) => line.startsWith("/dev/"));
}
