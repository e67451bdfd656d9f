// A folder for the temporary files of one run of tests, removed at its end. A run that was killed cannot do that: the next one
// removes what it left, file systems that are mounted there included.
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { run } from "../lab/machine/command.ts";
import { startTimeOf } from "../lab/machine/daemon.ts";

/** Its process, by pid and start. Short: sockets may be in there, whose paths have at most 107 characters. */
const named = /^etcd-operator-(?<pid>\d+)-(?<started>\d+)$/;

/** From here on, temporary files of this process and of all that it starts are in a folder of their own. */
export async function ownScratch(): Promise<() => Promise<void>> {
  const common = tmpdir();
  for (const name of readdirSync(common)) {
    const { pid, started } = named.exec(name)?.groups ?? {};
    if (pid !== undefined && startTimeOf(Number(pid)) !== started) await remove(path.join(common, name));
  }
  const own = path.join(common, `etcd-operator-${process.pid}-${startTimeOf(process.pid)}`);
  mkdirSync(own, { mode: 0o700 });
  process.env["TMPDIR"] = own;
  return () => remove(own);
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
