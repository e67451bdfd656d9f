// All that `make plugin` leaves: the plugin as a file, as an executable for each architecture, and what krew installs it from.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { stringify } from "yaml";
import { oldestNode } from "../../src/plugin/node-version.ts";
import { version } from "../../src/version.ts";
import { bundlePlugin, tree } from "../images/bundle.ts";
import { type Entry, tar } from "../images/tar.ts";
import { say, step } from "../progress.ts";
import { buildExecutable } from "./executable.ts";
import { archived, krewArchiveName, krewManifest, type KrewArchive, type Release } from "./krew-manifest.ts";
import { type Architecture, architectures, isOwn, nodeFor, type NodeProgram } from "./node-package.ts";

export interface BuiltPlugin {
  readonly file: string;
  readonly executables: readonly { readonly architecture: Architecture; readonly file: string }[];
  readonly archives: readonly KrewArchive[];
  readonly manifest: string;
}

const license: Entry = { is: "copy", path: archived.license, mode: 0o644, of: path.join(tree, "LICENSE") };

/** A release gives others, which leave the same bytes on every machine. */
export interface Means {
  /** Undefined: the architecture is left out. */
  readonly node: (architecture: Architecture) => Promise<NodeProgram | undefined>;
  readonly archive: (file: string, entries: readonly Entry[]) => Promise<void>;
}

const ownMeans: Means = { node: availableNode, archive: compressed };

export async function buildPlugin(folder: string, release: Release, means: Means = ownMeans): Promise<BuiltPlugin> {
  // Also says what is wrong with the release before minutes of work.
  const manifestOf = (archives: readonly KrewArchive[]): object => krewManifest(version, release, archives);
  manifestOf([]);
  const file = await bundlePlugin(path.join(folder, "kubectl-etcd"));
  const executables: { architecture: Architecture; file: string }[] = [];
  const archives: KrewArchive[] = [];
  await mkdir(path.join(folder, "krew"), { recursive: true });
  for (const architecture of architectures) {
    const node = await means.node(architecture);
    if (node === undefined) continue;
    await step(`kubectl-etcd for linux/${architecture}`, async (progress) => {
      const executable = path.join(folder, `kubectl-etcd-linux-${architecture}`);
      progress.detail("executable");
      await buildExecutable(file, node.program, executable);
      executables.push({ architecture, file: executable });
      progress.detail("archive");
      const archive = path.join(folder, "krew", krewArchiveName("linux", architecture));
      await means.archive(archive, [
        { is: "copy", path: archived.program, mode: 0o755, of: executable },
        license,
        { is: "copy", path: archived.nodeLicense, mode: 0o644, of: node.license },
      ]);
      const sha256 = await sha256Of(archive);
      archives.push({ system: "linux", architectures: [architecture], file: path.basename(archive), sha256 });
    });
  }
  archives.push(await archiveForMac(path.join(folder, "krew"), file, means));
  const manifest = path.join(folder, "krew", "etcd.yaml");
  await writeFile(manifest, stringify(manifestOf(archives)));
  return { file, executables, archives, manifest };
}

/** A Node for macOS cannot be run on the Linux machine that builds this, so nothing would prove an executable. */
async function archiveForMac(folder: string, plugin: string, means: Means): Promise<KrewArchive> {
  const launcher = await readFile(path.join(import.meta.dirname, "launcher.sh"), "utf8");
  const archive = path.join(folder, krewArchiveName("darwin", "all"));
  await means.archive(archive, [
    { is: "text", path: archived.program, mode: 0o755, text: launcher.replace("OLDEST", oldestNode) },
    { is: "copy", path: archived.plugin, mode: 0o644, of: plugin },
    license,
  ]);
  return { system: "darwin", architectures, file: path.basename(archive), sha256: await sha256Of(archive) };
}

/** Another architecture is left out where its Node cannot be had. */
async function availableNode(architecture: Architecture): Promise<NodeProgram | undefined> {
  try {
    return await nodeFor(architecture);
  } catch (error) {
    if (isOwn(architecture)) throw error;
    say(`linux/${architecture} is left out: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** The same content gives the same bytes with the same Node. */
async function compressed(file: string, entries: readonly Entry[]): Promise<void> {
  const unfinished = `${file}.${process.pid}`;
  await pipeline(tar(entries), createGzip(), createWriteStream(unfinished));
  await rename(unfinished, file);
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
