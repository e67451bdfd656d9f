// The content of an OCI image layout: files that are named by their hashes, and documents that name each other by them.
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, mkdir, rename, rm, stat } from "node:fs/promises";
import * as path from "node:path";
import { Transform } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { type Entry, tar, withFolders } from "../../lab/images/tar.ts";

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

export const digestOf = (bytes: string | Buffer): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

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

  async file(mediaType: string, file: string): Promise<Descriptor> {
    const digest = await digestOfFile(file);
    const kept = path.join(this.#folder, digest.replace(":", "-"));
    await copyFile(file, kept);
    return this.#keep(mediaType, digest, kept);
  }

  /** The files of a layer have no time: one that does not change has the same digest in every release. */
  async layer(entries: readonly Entry[], gzip: string): Promise<Layer> {
    await mkdir(this.#folder, { recursive: true });
    const unfinished = path.join(this.#folder, `unfinished-${this.#entries.size}`);
    const [before, after] = [new Sum(), new Sum()];
    const compressor = spawn(gzip, { stdio: ["pipe", "pipe", "inherit"] });
    const ended = new Promise<void>((resolve, reject) => {
      compressor.on("error", reject);
      compressor.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`gzip ended with ${code}.`))));
    });
    await Promise.all([
      pipeline(tar(withFolders(entries)), before, compressor.stdin),
      pipeline(compressor.stdout, after, createWriteStream(unfinished)),
      ended,
    ]);
    const kept = path.join(this.#folder, after.digest.replace(":", "-"));
    await rename(unfinished, kept);
    const descriptor = await this.#keep(mediaTypes.layer, after.digest, kept);
    return { ...descriptor, diffId: before.digest, unpacked: before.size };
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

/** Passes bytes on, and sums them up. */
class Sum extends Transform {
  readonly #hash = createHash("sha256");
  size = 0;
  #digest = "";

  get digest(): string {
    if (this.#digest === "") this.#digest = `sha256:${this.#hash.digest("hex")}`;
    return this.#digest;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: (error: null, chunk: Buffer) => void): void {
    this.#hash.update(chunk);
    this.size += chunk.length;
    done(null, chunk);
  }
}
