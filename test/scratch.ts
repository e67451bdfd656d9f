// Folders for what one process of the tests makes and nobody needs after it. A process that was killed cannot remove its own:
// the next one does, file systems that are mounted there included.
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { run } from "../lab/machine/command.ts";
import { startTimeOf } from "../lab/machine/daemon.ts";

interface OwnFolder {
  readonly folder: string;
  remove(): Promise<void>;
}

/** Named by its process, with the time of its start. Short: sockets may be in there, whose paths have at most 107 characters. */
export async function ownFolder(parent: string, prefix: string): Promise<OwnFolder> {
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent)) {
    const [pid, started, ...rest] = name.startsWith(`${prefix}-`) ? name.slice(prefix.length + 1).split("-") : [];
    if (!/^\d+$/.test(pid ?? "") || !/^\d+$/.test(started ?? "") || rest.length > 0) continue;
    if (startTimeOf(Number(pid)) !== started) await remove(path.join(parent, name));
  }
  const folder = path.join(parent, `${prefix}-${process.pid}-${startTimeOf(process.pid)}`);
  mkdirSync(folder, { mode: 0o700 });
  return { folder, remove: () => remove(folder) };
}

/** From here on, temporary files of this process and of all that it starts are in a folder of their own. */
export async function ownScratch(): Promise<OwnFolder> {
  const own = await ownFolder(tmpdir(), "etcd-operator");
  process.env["TMPDIR"] = own.folder;
  return own;
}

/** What cannot be removed stays: it is no reason for a run to fail. */
async function remove(folder: string): Promise<void> {
  const points = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  const below = points.map((line) => line.split(" ")[4] ?? "").filter((point) => point.startsWith(`${folder}/`));
  const ignore = (): undefined => undefined;
  for (const point of below.reverse()) await run("umount", ["--lazy", point]).catch(ignore);
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Files that a test has made immutable.
    await run("chattr", ["-R", "-i", folder]).catch(ignore);
    await rm(folder, { recursive: true, force: true }).catch(ignore);
  }
}
