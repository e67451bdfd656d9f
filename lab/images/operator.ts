// The operator's image: its bundle under the three names that manifests start, the worker and the etcdutl that it runs,
// Node, the libraries Node loads, and nothing else. The Dockerfile gives the same to people with Docker.
import { readdir, rm } from "node:fs/promises";
import * as path from "node:path";
import { image } from "../../src/image.ts";
import { step } from "../progress.ts";
import { ensureArchive, type ImageArchive } from "./archive.ts";
import { ensureBuilt } from "../build/cache.ts";
import { etcdutlRecipe } from "../build/etcd.ts";
import { bundleOperator, bundleWorker, tree } from "./bundle.ts";
import { commandPath, nodeImage } from "./node.ts";
import { inImage, program } from "./programs.ts";
import type { Entry } from "./tar.ts";

export const operatorImageTag: string = `${image.repository}:${image.tag}`;

export function buildOperatorImage(): Promise<ImageArchive> {
  return step("operator image", async () => {
    const etcdutl = path.join(await ensureBuilt(await etcdutlRecipe()), "etcdutl");
    const programs = [...(await bundledPrograms()), program(commandPath("etcdutl"), etcdutl)];
    const made = await nodeImage(operatorImageTag, "etcd-operator", programs);
    const archive = await ensureArchive(made, path.join(tree, "dist"));
    await forgetOthers(archive.file);
    return archive;
  });
}

/** The operator under its three names, and the worker: what is the same for every architecture. */
export async function bundledPrograms(): Promise<Entry[]> {
  return [
    program(commandPath("etcd-operator"), await bundleOperator()),
    ...["etcd-backup-operator", "etcd-restore-operator"].map(
      (name): Entry => ({ is: "link", path: inImage(commandPath(name)), mode: 0o777, to: "etcd-operator" }),
    ),
    program(commandPath("etcd-worker"), await bundleWorker()),
  ];
}

/** Every change of the source makes another archive of a hundred megabytes; the last one is enough. */
export async function forgetOthers(file: string): Promise<void> {
  const folder = path.dirname(file);
  for (const name of await readdir(folder))
    if (name.endsWith(".tar") && name !== path.basename(file)) await rm(path.join(folder, name), { force: true });
}
