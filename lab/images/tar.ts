// A reproducible tar writer: the same content gives the same bytes, because every entry belongs to root and has one fixed
// time. So the hash identifies the content.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import * as path from "node:path";

export type Entry = { readonly path: string; readonly mode: number } & (
  | { readonly is: "folder" }
  | { readonly is: "text"; readonly text: string }
  /** The content of a file of this machine. */
  | { readonly is: "copy"; readonly of: string }
  | { readonly is: "link"; readonly to: string }
  /** A stream of bytes whose size is known before. */
  | { readonly is: "stream"; readonly size: number; readonly bytes: () => AsyncIterable<Buffer> }
);

const block = 512;
const typeFlag = { text: "0", copy: "0", stream: "0", link: "2", folder: "5" };

/** The parents of every entry, then the entries, all in the order of their paths. */
export function withFolders(entries: readonly Entry[]): Entry[] {
  const byPath = new Map<string, Entry>();
  for (const entry of entries) {
    if (byPath.has(entry.path)) throw new Error(`The path ${entry.path} is in the archive twice.`);
    byPath.set(entry.path, entry);
  }
  for (const entry of entries)
    for (let parent = path.posix.dirname(entry.path); parent !== "."; parent = path.posix.dirname(parent))
      if (!byPath.has(parent)) byPath.set(parent, { is: "folder", path: parent, mode: 0o755 });
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function sizeOf(entry: Entry): Promise<number> {
  if (entry.is === "text") return Buffer.byteLength(entry.text);
  if (entry.is === "copy") return (await stat(entry.of)).size;
  return entry.is === "stream" ? entry.size : 0;
}

async function* contentOf(entry: Entry): AsyncGenerator<Buffer> {
  switch (entry.is) {
    case "folder":
    case "link":
      return;
    case "text":
      yield Buffer.from(entry.text);
      return;
    case "copy":
      for await (const chunk of createReadStream(entry.of, { highWaterMark: 1 << 20 })) yield asBuffer(chunk);
      return;
    case "stream":
      yield* entry.bytes();
  }
}

function asBuffer(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  throw new TypeError("A file stream without an encoding gives buffers.");
}

const padding = (size: number): number => (block - (size % block)) % block;

export async function tarSize(entries: readonly Entry[]): Promise<number> {
  let total = 2 * block;
  for (const entry of entries) {
    const size = await sizeOf(entry);
    total += block + size + padding(size);
  }
  return total;
}

/** `time`, in seconds since 1970, is that of every entry. */
export async function* tar(entries: readonly Entry[], time = 0): AsyncGenerator<Buffer> {
  for (const entry of entries) {
    const size = await sizeOf(entry);
    yield header(entry, size, time);
    let written = 0;
    for await (const chunk of contentOf(entry)) {
      written += chunk.length;
      yield chunk;
    }
    if (written !== size)
      throw new Error(`${entry.path} changed while it was archived: ${written} bytes, not ${size}.`);
    yield Buffer.alloc(padding(size));
  }
  yield Buffer.alloc(2 * block);
}

function header(entry: Entry, size: number, time: number): Buffer {
  const bytes = Buffer.alloc(block);
  const text = (at: number, length: number, value: string, what: string): void => {
    if (Buffer.byteLength(value) > length) throw new Error(`The ${what} "${value}" is too long for a tar header.`);
    bytes.write(value, at);
  };
  const octal = (at: number, length: number, value: number, what: string): void =>
    text(at, length - 1, value.toString(8).padStart(length - 1, "0"), what);
  text(0, 100, entry.is === "folder" ? `${entry.path}/` : entry.path, "path");
  octal(100, 8, entry.mode, "mode");
  octal(108, 8, 0, "owner");
  octal(116, 8, 0, "group");
  octal(124, 12, size, "size");
  octal(136, 12, time, "time");
  text(156, 1, typeFlag[entry.is], "type");
  if (entry.is === "link") text(157, 100, entry.to, "link target");
  text(257, 8, "ustar\u000000", "format");
  // The checksum counts its own field as spaces.
  bytes.fill(" ", 148, 156);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  text(148, 8, `${sum.toString(8).padStart(6, "0")}\0 `, "checksum");
  return bytes;
}
