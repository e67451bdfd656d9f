// SHA256SUMS: the hash of every file of a folder, as sha256sum writes and checks it.
import { readdir } from "node:fs/promises";
import * as path from "node:path";
import { digestOfFile } from "../image/blobs.ts";

export interface FileSum {
  /** Relative to the folder. */
  readonly file: string;
  /** Of SHA-256, in hexadecimal. */
  readonly hash: string;
}

/** Every file below the folder but those named, in the order of their names. */
export async function sumsOf(folder: string, except: readonly string[]): Promise<FileSum[]> {
  const sums: FileSum[] = [];
  for (const file of await filesIn(folder))
    if (!except.includes(file))
      sums.push({ file, hash: (await digestOfFile(path.join(folder, file))).replace("sha256:", "") });
  return sums;
}

export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}

export const sumsText = (sums: readonly FileSum[]): string =>
  sums.map(({ file, hash }) => `${hash}  ${file}\n`).join("");

/** Undefined: not every line is a hash and a name. */
export function readSums(text: string): FileSum[] | undefined {
  const lines = text.split("\n");
  if (lines.pop() !== "") return undefined;
  const sums = lines.map((line) => /^([0-9a-f]{64}) {2}(\S.*)$/.exec(line));
  return sums.every((match) => match !== null) ? sums.map(([, hash = "", file = ""]) => ({ hash, file })) : undefined;
}
