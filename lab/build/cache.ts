// The cache of built programs and image archives. Each is built in a temporary folder and renamed into place, so that an
// entry is always complete.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";
import { type Step, step } from "../progress.ts";
import { withLock } from "./lock.ts";

/** How to build something: the same recipe always gives the same result. */
export interface Recipe {
  readonly name: string;
  readonly version: string;
  /** Everything else that the result depends on: sources, flags. A change of any is another cache entry. */
  readonly ingredients: readonly string[];
  build(folder: string, step: Step): Promise<void>;
}

export function cacheRoot(env: Readonly<Record<string, string | undefined>> = process.env): string {
  if (env["ETCD_OPERATOR_CACHE"]) return path.resolve(env["ETCD_OPERATOR_CACHE"]);
  return path.join(env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache"), "etcd-operator");
}

/** Hashes the length before each part, so that ["ab", "c"] and ["a", "bc"] differ. */
export function fingerprint(parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest("hex").slice(0, 12);
}

export function cacheKey(recipe: Omit<Recipe, "build">, architecture: string = process.arch): string {
  return `${recipe.name}-${recipe.version}-${fingerprint([architecture, ...recipe.ingredients])}`;
}

export const exists = async (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

/** The folder with the result of the recipe; builds it if it is not cached. */
export async function ensureBuilt(recipe: Recipe, root: string = cacheRoot()): Promise<string> {
  const key = cacheKey(recipe);
  const folder = path.join(root, "programs", key);
  if (await exists(folder)) return folder;
  await mkdir(path.join(root, "programs"), { recursive: true });
  await step(`build ${recipe.name} ${recipe.version}`, async (progress) => {
    await withLock(
      path.join(root, "programs", `.${key}.lock`),
      () => progress.detail("another run is building it"),
      async () => {
        if (await exists(folder)) return;
        progress.detail("");
        // Nobody else builds it: this lock is ours.
        for (const name of await readdir(path.join(root, "programs")))
          if (name.startsWith(`.${key}.`) && !name.endsWith(".lock"))
            await rm(path.join(root, "programs", name), { recursive: true, force: true });
        const unfinished = await mkdtemp(path.join(root, "programs", `.${key}.`));
        try {
          await recipe.build(unfinished, progress);
          await rename(unfinished, folder);
        } catch (error) {
          await rm(unfinished, { recursive: true, force: true });
          throw error;
        }
      },
    );
  });
  return folder;
}
