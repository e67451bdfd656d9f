// Walks a folder as a store shows it: keys in place of files, without what is unfinished.
import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import * as path from "node:path";
import { isMissing } from "./folder-errors.ts";

const ending = ".unfinished";
const longestName = 255;

/** Hidden, and with the name of the object in front, so that the leftovers of a prefix can be found. */
export function temporaryName(name: string, random: Buffer): string {
  const end = `.${random.toString("hex")}${ending}`;
  let front = `.${name}`;
  // By code points, so that none is cut in two.
  while (Buffer.byteLength(front) + end.length > longestName) front = Array.from(front).slice(0, -1).join("");
  return `${front}${end}`;
}

const temporaryPattern = /^\.(.*)\.[0-9a-f]{12}\.unfinished$/s;

export const isTemporary = (name: string): boolean => temporaryPattern.test(name);

export async function* objectsIn(root: string, prefix: string): AsyncGenerator<{ key: string; file: string }> {
  for await (const { key, file } of filesIn(root, prefix))
    if (key.startsWith(prefix) && !isTemporary(path.basename(key))) yield { key, file };
}

export async function* temporariesIn(
  root: string,
  prefix: string,
  meaning: "prefix" | "key" = "prefix",
): AsyncGenerator<{ key: string; file: string }> {
  for await (const { key, file } of filesIn(root, prefix)) {
    const front = temporaryPattern.exec(path.basename(key))?.[1];
    if (front === undefined) continue;
    const folder = path.dirname(key);
    const meant = folder === "." ? front : `${folder}/${front}`;
    // A long name was cut.
    const isMeant = meaning === "key" ? meant === prefix : meant.startsWith(prefix);
    if (isMeant || (meant.length > 200 && prefix.startsWith(meant))) yield { key: meant, file };
  }
}

/** Those in the folders where keys with the prefix can be. */
async function* filesIn(root: string, prefix: string): AsyncGenerator<{ key: string; file: string }> {
  const below = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const waiting = [below];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for await (const entry of entriesOf(path.join(root, folder))) {
      const key = `${folder}${entry.name}`;
      // Belongs to the file system, and only root may read it.
      if (key === "lost+found") continue;
      const fits = key.startsWith(prefix) || prefix.startsWith(`${key}/`);
      if (entry.isDirectory() && fits) waiting.push(`${key}/`);
      else if (entry.isFile()) yield { key, file: path.join(root, key) };
    }
  }
}

/** None where there is no such folder. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
