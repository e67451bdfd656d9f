// Programs from Debian's packages, unpacked and not installed: no service starts, and the system stays as it is.
import { chmod, copyFile, mkdir, readdir, rm } from "node:fs/promises";
import * as path from "node:path";
import { run, tryRun } from "../machine/command.ts";
import type { Step } from "../progress.ts";
import { type Apt, withApt } from "./apt.ts";

/** Copies programs of a package into the folder. */
export async function programsOf(
  pkg: string,
  version: string,
  programs: readonly string[],
  folder: string,
  step: Step,
): Promise<void> {
  const unpacked = path.join(folder, "unpacked");
  const download = path.join(folder, "download");
  await mkdir(download);
  await withApt(step, async (apt) => {
    const debian = await debianVersion(pkg, version, apt, step);
    step.detail(`downloading ${pkg} ${debian}`);
    // apt-get downloads as an unprivileged user where it can, and warns about a folder of root.
    await apt(["-o", "APT::Sandbox::User=root", "download", `${pkg}=${debian}`], { cwd: download });
  });
  for (const file of await readdir(download)) await run("dpkg-deb", ["-x", path.join(download, file), unpacked]);
  await rm(download, { recursive: true });
  for (const program of programs) {
    await copyFile(path.join(unpacked, "usr/bin", program), path.join(folder, program));
    await chmod(path.join(folder, program), 0o755);
  }
  await rm(unpacked, { recursive: true });
}

async function debianVersion(pkg: string, version: string, apt: Apt, step: Step): Promise<string> {
  const known = async (): Promise<string | undefined> =>
    ((await tryRun("apt-cache", ["madison", pkg])) ?? "")
      .split("\n")
      .map((line) => line.split("|")[1]?.trim())
      .find((offered) => offered?.startsWith(`${version}-`) || offered?.startsWith(`${version}+`));
  const first = await known();
  if (first !== undefined) return first;
  step.detail("apt-get update");
  await apt(["update"]);
  const second = await known();
  if (second !== undefined) return second;
  throw new Error(`This system's package sources have no ${pkg} ${version}; Debian 12 (bookworm) has it.`);
}
