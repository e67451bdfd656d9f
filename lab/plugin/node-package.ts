// The pinned Node as a program for an architecture. This machine's is in node_modules and loses its symbols, where there is a
// strip. Another's comes from its npm package, which must be the one in package-lock.json; it keeps its symbols, since strip
// knows its own kind only.
import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt, type Recipe } from "../build/cache.ts";
import { findProgram } from "../build/packages.ts";
import { tree } from "../images/bundle.ts";
import { pinnedNode, strippedNode } from "../images/node.ts";
import { run } from "../machine/command.ts";

/** As Go and Kubernetes call them, with the names that Node has for them. */
const nodeNames = { amd64: "x64", arm64: "arm64" } as const;
export type Architecture = keyof typeof nodeNames;
export const architectures: readonly Architecture[] = ["amd64", "arm64"];

export const isOwn = (architecture: Architecture): boolean => nodeNames[architecture] === process.arch;

export interface NodeProgram {
  readonly program: string;
  readonly license: string;
}

export async function nodeFor(architecture: Architecture): Promise<NodeProgram> {
  if (isOwn(architecture)) {
    const program = (await findProgram("strip")) === undefined ? pinnedNode.program : await strippedNode();
    return { program, license: path.join(pinnedNode.folder, "LICENSE") };
  }
  return packagedNode(architecture);
}

/** As its npm package has it, byte for byte: the same on every machine. */
export async function packagedNode(architecture: Architecture): Promise<NodeProgram> {
  const folder = await ensureBuilt(await packageRecipe(`node-linux-${nodeNames[architecture]}`));
  return { program: path.join(folder, "node"), license: path.join(folder, "LICENSE") };
}

async function packageRecipe(name: string): Promise<Recipe> {
  const { version, integrity } = lockedPackage(await readFile(path.join(tree, "package-lock.json"), "utf8"), name);
  return {
    name,
    version,
    ingredients: [integrity],
    async build(folder, step) {
      step.detail(`downloading ${name} ${version}`);
      const archive = path.join(folder, `${name}-${version}.tgz`);
      await run("npm", ["pack", `${name}@${version}`, "--loglevel=error"], {
        cwd: folder,
        env: { PATH: `${path.dirname(process.execPath)}:${process.env["PATH"] ?? ""}` },
      });
      const found = `sha512-${createHash("sha512")
        .update(await readFile(archive))
        .digest("base64")}`;
      if (found !== integrity) throw new Error(`npm gave another ${name} ${version} than package-lock.json names.`);
      const files = ["package/bin/node", "package/LICENSE"];
      await run("tar", ["-xzf", archive, "--no-same-owner", "--transform=s|.*/||", ...files], { cwd: folder });
      await rm(archive);
    },
  };
}

export function lockedPackage(lock: string, name: string): { version: string; integrity: string } {
  const { packages } = JSON.parse(lock) as {
    packages?: Record<string, { version?: unknown; integrity?: unknown } | undefined>;
  };
  const { version, integrity } = packages?.[`node_modules/${name}`] ?? {};
  if (typeof version === "string" && typeof integrity === "string") return { version, integrity };
  throw new Error(`package-lock.json does not say which ${name} is meant.`);
}
