// The content of an OCI image layout: files that are named by their hashes, and documents that name each other by them.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import * as path from "node:path";
import { finished, pipeline } from "node:stream/promises";
import { type Entry, tar, withFolders } from "../../lab/images/tar.ts";
import { compressed } from "../archive.ts";

export interface Descriptor {
  readonly mediaType: string;
  /** sha256:… */
  readonly digest: string;
  readonly size: number;
}

export interface Layer extends Descriptor {
  /** The digest of the layer before it is compressed. */
  readonly diffId: string;
  /** Bytes before it is compressed. */
  readonly unpacked: number;
}

export const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
} as const;

export const digestOf = (bytes: string | Buffer): string =>
  `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** Writes the blobs of one layout into a folder, and knows them by their digests. */
export class Blobs {
  readonly #folder: string;
  readonly #entries = new Map<string, Entry>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Every blob, as entries of an archive. */
  get entries(): Entry[] {
    return [...this.#entries.values()];
  }

  json(mediaType: string, value: unknown): Descriptor {
    return this.text(mediaType, JSON.stringify(value));
  }

  text(mediaType: string, text: string): Descriptor {
    const digest = digestOf(text);
    this.#entries.set(digest, { is: "text", path: blobPath(digest), mode: 0o644, text });
    return { mediaType, digest, size: Buffer.byteLength(text) };
  }

  /** The files of a layer have no time: one that does not change has the same digest in every release. */
  async layer(entries: readonly Entry[], gzip: string): Promise<Layer> {
    await mkdir(this.#folder, { recursive: true });
    const unfinished = path.join(this.#folder, `unfinished-${this.#entries.size}`);
    const [before, after] = [new Sum(), new Sum()];
    await compressed(gzip, before.of(tar(withFolders(entries))), (output) =>
      pipeline(output, (chunks) => after.of(chunks), createWriteStream(unfinished)),
    );
    const digest = after.digest();
    const kept = path.join(this.#folder, digest.replace(":", "-"));
    await rename(unfinished, kept);
    const descriptor = await this.#keep(mediaTypes.layer, digest, kept);
    return { ...descriptor, diffId: before.digest(), unpacked: before.size };
  }

  async #keep(mediaType: string, digest: string, file: string): Promise<Descriptor> {
    this.#entries.set(digest, { is: "copy", path: blobPath(digest), mode: 0o644, of: file });
    return { mediaType, digest, size: (await stat(file)).size };
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export const blobPath = (digest: string): string => `blobs/${digest.replace(":", "/")}`;

export async function digestOfFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  const stream = createReadStream(file);
  stream.on("data", (chunk) => hash.update(chunk));
  await finished(stream);
  return `sha256:${hash.digest("hex")}`;
}

/** The size and the digest of what passes. */
class Sum {
  readonly #hash = createHash("sha256");
  size = 0;

  async *of(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      this.#hash.update(chunk);
      this.size += chunk.length;
      yield chunk;
    }
  }

  /** Once, at the end. */
  digest(): string {
    return `sha256:${this.#hash.digest("hex")}`;
  }
}
