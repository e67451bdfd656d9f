// Keys of 32 bytes, as a mounted Secret holds them: each entry is a key, and its name is the key's id.
import { readdir, readFile } from "node:fs/promises";
import * as path from "node:path";
import { SealError } from "./errors.ts";

const keyBytes = 32;

/** A key. Neither a log nor an error shows it: the bytes are no property that could be printed. */
export class SealKey {
  readonly id: string;
  readonly #bytes: Uint8Array;

  constructor(id: string, bytes: Uint8Array) {
    if (bytes.length !== keyBytes) throw new SealError("badKey", `The key ${id} has ${bytes.length} bytes, not 32.`);
    this.id = id;
    this.#bytes = bytes;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }
}

/** Finds the key of an id; undefined: there is none. */
export type FindKey = (id: string) => Promise<SealKey | undefined>;

/** 32 bytes as they are, or written as hex or base64, where white space around does not matter. */
export function parseKey(id: string, content: Uint8Array): SealKey {
  if (content.length === keyBytes) return new SealKey(id, Uint8Array.from(content));
  const text = Buffer.from(content).toString("latin1").trim();
  if (/^[0-9a-fA-F]{64}$/.test(text)) return new SealKey(id, Buffer.from(text, "hex"));
  if (/^[0-9A-Za-z+/_-]{43}=?$/.test(text)) return new SealKey(id, Buffer.from(text, "base64"));
  throw new SealError(
    "badKey",
    `The key ${id} is not 32 bytes, raw or as base64 or hex. Make one with: openssl rand -base64 32`,
  );
}

/** A kubelet keeps its own names beside the entries of a Secret. They begin with two dots. */
async function keyIds(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !name.startsWith("..")).sort();
}

export function keysIn(folder: string): FindKey {
  return async (id) => {
    // The id comes out of an object: it may name an entry and nothing else.
    const found = (await keyIds(folder)).find((name) => name === id);
    return found === undefined ? undefined : parseKey(id, await readFile(path.join(folder, found)));
  };
}

/** The one to encrypt with. Without an id: the only one, or the last by name, so that a newer key is added as the next. */
export async function chooseKey(folder: string, id: string | undefined): Promise<SealKey> {
  const ids = await keyIds(folder);
  const chosen = id ?? ids.at(-1);
  if (chosen === undefined)
    throw new SealError("keyMissing", "The Secret with the keys for encryption is empty. Add a key of 32 bytes to it.");
  const key = await keysIn(folder)(chosen);
  if (key === undefined)
    throw new SealError(
      "keyMissing",
      `The Secret with the keys for encryption has no entry ${chosen}. It has: ${ids.join(", ") || "none"}.`,
    );
  return key;
}
