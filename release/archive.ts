// Writes an archive of a release: the same entries and time give the same bytes.
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type Entry, tar, withFolders } from "../lab/images/tar.ts";

export async function writeTar(file: string, entries: readonly Entry[], time: number): Promise<void> {
  const unfinished = `${file}.${process.pid}`;
  try {
    await pipeline(tar(withFolders(entries), time), createWriteStream(unfinished));
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
