// What an image holds, file by file, so that two can be compared.
import { createHash } from "node:crypto";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import * as path from "node:path";

/** By path: kind, mode, owner, and the target of a link or the hash of a file. */
export async function filesIn(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(folder, { recursive: true })).sort())
    found[name] = await described(path.join(folder, name));
  return found;
}

async function described(file: string): Promise<string> {
  const stat = await lstat(file);
  const owner = `${stat.uid}:${stat.gid}`;
  if (stat.isSymbolicLink()) return `link ${owner} to ${await readlink(file)}`;
  const mode = (stat.mode & 0o7777).toString(8);
  if (stat.isDirectory()) return `folder ${mode} ${owner}`;
  const hash = createHash("sha256").update(await readFile(file));
  return `file ${mode} ${owner} ${hash.digest("hex")}`;
}
