// Debian packages of any architecture, fetched by apt-get with lists of its own: the machine's packages and architectures stay
// as they are.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { run } from "../../lab/machine/command.ts";
import type { Architecture } from "../../lab/plugin/node-package.ts";

export interface Offer {
  readonly version: string;
  readonly sha256: string;
}

export interface Mirror {
  /** The versions that are served, newest first. */
  readonly offers: (name: string) => Promise<readonly Offer[]>;
  /** Writes the package into the folder. */
  readonly download: (name: string, version: string, folder: string) => Promise<void>;
}

/** Runs the work with the package lists of the sources of this machine, for another architecture. */
export async function withMirror<T>(architecture: Architecture, work: (mirror: Mirror) => Promise<T>): Promise<T> {
  const state = await mkdtemp(path.join(tmpdir(), "release-apt-"));
  try {
    await mkdir(path.join(state, "lists", "partial"), { recursive: true });
    await mkdir(path.join(state, "cache", "archives", "partial"), { recursive: true });
    await writeFile(path.join(state, "status"), "");
    const settings = [
      `Dir::State=${state}`,
      `Dir::State::status=${path.join(state, "status")}`,
      `Dir::Cache=${path.join(state, "cache")}`,
      `APT::Architecture=${architecture}`,
      `APT::Architectures::=${architecture}`,
      "Acquire::Languages=none",
      // Where it can, it downloads as an unprivileged user, who may not write here.
      "APT::Sandbox::User=root",
    ].flatMap((setting) => ["-o", setting]);
    const env = { LC_ALL: "C" };
    await run("apt-get", ["-qq", ...settings, "update"], { env });
    return await work({
      offers: async (name) => offersIn(await run("apt-cache", [...settings, "show", name], { env })),
      download: async (name, version, folder) => {
        await run("apt-get", ["-qq", ...settings, "download", `${name}=${version}`], { cwd: folder, env });
      },
    });
  } finally {
    await rm(state, { recursive: true, force: true });
  }
}

/** From what `apt-cache show` prints: a paragraph for each version. */
export function offersIn(shown: string): Offer[] {
  return shown.split(/\n\n+/).flatMap((paragraph) => {
    const version = /^Version: (\S+)$/m.exec(paragraph)?.[1];
    const sha256 = /^SHA256: ([0-9a-f]{64})$/m.exec(paragraph)?.[1];
    return version === undefined || sha256 === undefined ? [] : [{ version, sha256 }];
  });
}
