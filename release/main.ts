// `make release`: copies the tree with the version of the release, has it made there, and leaves it in dist/release once it
// is whole.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, rename, rm } from "node:fs/promises";
import * as path from "node:path";
import { exists } from "../lab/build/cache.ts";
import { UsageError } from "../lab/config.ts";
import { tree } from "../lab/images/bundle.ts";
import { red, say } from "../lab/progress.ts";
import { names } from "./names.ts";
import { help, type Wanted, wantedOf } from "./options.ts";
import type { Release } from "./part.ts";
import { revisionOf, withSource } from "./source.ts";

/** What the copy of the tree is given: all but the image, which it makes first. */
export interface Order {
  readonly release: Omit<Release, "image">;
  readonly repository: string;
}

async function release(wanted: Wanted): Promise<void> {
  const { version, image, uncommitted } = wanted;
  const folder = path.resolve(wanted.folder);
  await refuseOthers(folder, version);
  const revision = await revisionOf(tree, { uncommitted });
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  try {
    const order: Order = { release: { version, ...revision, folder: unfinished }, repository: image };
    await withSource(tree, version, (copy) => makeIn(copy, order));
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  say(`Release ${version} of ${revision.revision} is in ${path.relative(process.cwd(), folder)}.`);
  say(`Check it with: make verify-release RELEASE=${path.relative(process.cwd(), folder)}`);
}

/** A folder is replaced as a whole, so it must not be anything but a release. */
async function refuseOthers(folder: string, version: string): Promise<void> {
  if (!(await exists(folder)) || (await exists(path.join(folder, names(version).sums)))) return;
  if ((await readdir(folder)).length > 0)
    throw new UsageError(`${folder} has other files than those of a release. Name another folder.`);
}

async function makeIn(copy: string, order: Order): Promise<void> {
  const child = spawn(process.execPath, [path.join(copy, "release", "make.ts")], {
    cwd: copy,
    // Node's own cache of compiled files would be of a path that is gone.
    env: { ...process.env, NODE_COMPILE_CACHE: "", LC_ALL: "C", TZ: "UTC" },
    stdio: ["pipe", "inherit", "inherit"],
  });
  child.stdin.end(JSON.stringify(order));
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`The release was not made (see above).`);
}

try {
  const wanted = wantedOf(process.argv.slice(2));
  if (wanted === "help") say(help);
  else await release(wanted);
} catch (error) {
  const usage = error instanceof UsageError;
  say(red(error instanceof Error ? error.message : String(error)));
  if (usage) say(help);
  process.exitCode = usage ? 2 : 1;
}
