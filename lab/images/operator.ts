// The operator's image: its bundle under the three names that manifests start, Node, the libraries Node loads, and
// nothing else. The Dockerfile gives the same to people with Docker.
import { readdir, readFile, rm } from "node:fs/promises";
import * as path from "node:path";
import { version } from "../../src/version.ts";
import { ensureBuilt, type Recipe } from "../build/cache.ts";
import { run } from "../command.ts";
import { step } from "../progress.ts";
import { ensureArchive, type ImageArchive } from "./archive.ts";
import { bundleOperator, tree } from "./bundle.ts";
import { basics, librariesOf, program, searchPath } from "./programs.ts";
import type { Entry } from "./tar.ts";

export const operatorImageTag: string = `docker.io/etcd-operator/etcd-operator:${version}`;

const commands = "usr/local/bin";

export function buildOperatorImage(): Promise<ImageArchive> {
  return step("operator image", async () => {
    const bundle = await bundleOperator();
    const node = path.join(await ensureBuilt(await nodeRecipe()), "node");
    const archive = await ensureArchive(
      {
        tags: [operatorImageTag],
        config: {
          Env: [searchPath, "NODE_ENV=production", "NODE_OPTIONS=--max-semi-space-size=1", "MALLOC_ARENA_MAX=1"],
          Entrypoint: [`/${commands}/etcd-operator`],
          User: "65532:65532",
          WorkingDir: "/",
        },
        layers: [
          [...basics, program(`/${commands}/node`, node), ...(await librariesOf([node]))],
          [
            program(`/${commands}/etcd-operator`, bundle),
            ...["etcd-backup-operator", "etcd-restore-operator"].map(
              (name): Entry => ({ is: "link", path: `${commands}/${name}`, mode: 0o777, to: "etcd-operator" }),
            ),
          ],
        ],
      },
      path.join(tree, "dist"),
    );
    await forgetOthers(archive.file);
    return archive;
  });
}

/** Every change of the source makes another archive of a hundred megabytes; the last one is enough. */
async function forgetOthers(file: string): Promise<void> {
  const folder = path.dirname(file);
  for (const name of await readdir(folder))
    if (name.endsWith(".tar") && name !== path.basename(file)) await rm(path.join(folder, name), { force: true });
}

/** The Node that this tree is pinned to, without the symbols that make up a seventh of it. */
async function nodeRecipe(): Promise<Recipe> {
  const folder = path.join(tree, "node_modules", `node-linux-${process.arch}`);
  const manifest: unknown = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  if (typeof manifest !== "object" || manifest === null || !("version" in manifest))
    throw new Error(`${folder} has no version; run npm ci.`);
  return {
    name: "node",
    version: String(manifest.version),
    ingredients: ["stripped"],
    build: async (output) => {
      await run("strip", ["--strip-all", "-o", path.join(output, "node"), path.join(folder, "bin", "node")]);
    },
  };
}
