// Writes image archives in the format of `docker save`, which containerd imports, without a container engine. The file name
// has the hash of the content, so an unchanged image is not written again.
import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import * as path from "node:path";
import { pipeline } from "node:stream/promises";
import { cacheRoot, exists, fingerprint } from "../build/cache.ts";
import { type Entry, tar, tarSize, withFolders } from "./tar.ts";

/** The part of the OCI image configuration that these images use. */
interface ImageConfig {
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly WorkingDir?: string;
  readonly User?: string;
  readonly ExposedPorts?: Readonly<Record<string, Record<string, never>>>;
}

export interface Image {
  readonly tags: readonly string[];
  readonly config: ImageConfig;
  /** Lowest first. Put what seldom changes low: a node does not unpack a layer that it has. */
  readonly layers: readonly (readonly Entry[])[];
}

export interface ImageArchive {
  readonly file: string;
  readonly tags: readonly string[];
  /** The digest of the image configuration, which identifies the content. */
  readonly digest: string;
}

const architectures: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64", arm64: "arm64" };

const json = (name: string, value: unknown): Entry => ({
  is: "text",
  path: name,
  mode: 0o644,
  text: JSON.stringify(value),
});

export async function ensureArchive(image: Image, root: string = cacheRoot()): Promise<ImageArchive> {
  const layers = image.layers.map(withFolders);
  const digests: string[] = [];
  for (const layer of layers) digests.push(await digestOf(layer));
  const configuration = JSON.stringify({
    architecture: architectures[process.arch] ?? process.arch,
    os: "linux",
    created: "1970-01-01T00:00:00Z",
    config: image.config,
    rootfs: { type: "layers", diff_ids: digests.map((digest) => `sha256:${digest}`) },
    history: digests.map(() => ({ created: "1970-01-01T00:00:00Z" })),
  });
  const id = createHash("sha256").update(configuration).digest("hex");
  const stem = (image.tags[0] ?? "image").replace(/^.*\//, "").replace(":", "-");
  const file = path.join(root, "images", `${stem}-${fingerprint([id, ...image.tags])}.tar`);
  const archive: ImageArchive = { file, tags: image.tags, digest: `sha256:${id}` };
  if (await exists(file)) return archive;

  await mkdir(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${randomUUID()}`;
  try {
    await pipeline(
      tar([
        { is: "text", path: `${id}.json`, mode: 0o644, text: configuration },
        ...(await Promise.all(layers.map(layerEntry))),
        json("manifest.json", [{ Config: `${id}.json`, RepoTags: image.tags, Layers: layers.map(layerName) }]),
      ]),
      createWriteStream(unfinished),
    );
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  return archive;
}

const layerName = (_: unknown, index: number): string => `layer-${index}.tar`;

async function layerEntry(layer: readonly Entry[], index: number): Promise<Entry> {
  return {
    is: "stream",
    path: layerName(layer, index),
    mode: 0o644,
    size: await tarSize(layer),
    bytes: () => tar(layer),
  };
}

async function digestOf(layer: readonly Entry[]): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of tar(layer)) hash.update(chunk);
  return hash.digest("hex");
}
