// Images of programs that Node runs: the pinned Node, the libraries it loads, the bundles, and nothing else.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt, type Recipe } from "../build/cache.ts";
import { run } from "../machine/command.ts";
import type { Image } from "./archive.ts";
import { tree } from "./bundle.ts";
import { basics, librariesOf, program, searchPath } from "./programs.ts";
import type { Entry } from "./tar.ts";

/** NODE_OPTIONS of every such image. Flags that it does not allow are in the bundle's first line. */
export const nodeEnvironment = {
  NODE_ENV: "production",
  NODE_OPTIONS: "--max-semi-space-size=1",
  MALLOC_ARENA_MAX: "1",
} as const;

export const commandPath = (name: string): string => `/usr/local/bin/${name}`;

/** `started` is the program that runs when a pod has no command. */
export const nodeConfig = (started: string): Image["config"] => ({
  Env: [searchPath, ...Object.entries(nodeEnvironment).map(([name, value]) => `${name}=${value}`)],
  Entrypoint: [commandPath(started)],
  User: "65532:65532",
  WorkingDir: "/",
});

export async function nodeImage(tag: string, started: string, programs: readonly Entry[]): Promise<Image> {
  const node = await strippedNode();
  return {
    tags: [tag],
    config: nodeConfig(started),
    layers: [[...basics, program(commandPath("node"), node), ...(await librariesOf([node]))], programs],
  };
}

const folder = path.join(tree, "node_modules", `node-linux-${process.arch}`);

/** The Node of package.json, as npm installed it for this machine. */
export const pinnedNode = { folder, program: path.join(folder, "bin", "node") } as const;

/** The pinned Node, without symbols, which are a seventh of it. */
export const strippedNode = async (): Promise<string> => path.join(await ensureBuilt(await nodeRecipe()), "node");

async function nodeRecipe(): Promise<Recipe> {
  const manifest: unknown = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  if (typeof manifest !== "object" || manifest === null || !("version" in manifest))
    throw new Error(`${folder} has no version; run make, which installs it.`);
  return {
    name: "node",
    version: String(manifest.version),
    ingredients: ["stripped"],
    build: async (output) => {
      await run("strip", ["--strip-all", "-o", path.join(output, "node"), pinnedNode.program]);
    },
  };
}
