// The servers that stores of backups are tested on: versitygw speaks S3, azurite Azure's blobs, fake-gcs-server Google's.
import { copyFile, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { run } from "../machine/command.ts";
import { ensureBuilt, type Recipe } from "./cache.ts";
import { pinsFolder } from "./modules/pins.ts";
import { goProgram } from "./modules/program.ts";

const lock = "package-lock.json";

/** npm takes older packages for an older Node, so it runs by the Node that runs this. */
function npmServer(name: string, version: string): Recipe {
  const manifest = JSON.stringify({ private: true, dependencies: { [name]: version } });
  return {
    name,
    version,
    ingredients: [manifest],
    async build(folder, step) {
      step.detail(`downloading ${name} ${version}`);
      await writeFile(path.join(folder, "package.json"), manifest);
      await copyFile(path.join(pinsFolder(name, version), lock), path.join(folder, lock));
      await run("npm", ["ci", "--no-fund", "--no-audit", "--ignore-scripts", "--loglevel=error"], {
        cwd: folder,
        env: { PATH: `${path.dirname(process.execPath)}:${process.env["PATH"] ?? ""}` },
      });
    },
  };
}

export const storeServers = {
  versitygw: goProgram(
    "versitygw",
    "github.com/versity/versitygw",
    "1.8.0",
    "github.com/versity/versitygw/cmd/versitygw",
  ),
  "fake-gcs-server": goProgram(
    "fake-gcs-server",
    "github.com/fsouza/fake-gcs-server",
    "1.56.1",
    "github.com/fsouza/fake-gcs-server",
  ),
  azurite: npmServer("azurite", "3.36.0"),
} as const satisfies Record<string, Recipe>;

/** Their folders. */
export async function ensureStoreServers(): Promise<string[]> {
  const folders: string[] = [];
  for (const recipe of Object.values(storeServers)) folders.push(await ensureBuilt(recipe));
  return folders;
}
