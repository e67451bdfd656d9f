// Writes the archives of a release: the same entries and time give the same bytes on every machine.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Entry, tar, withFolders } from "../lab/images/tar.ts";
import { ensureGzip } from "./programs/programs.ts";

export const writeTar = (file: string, entries: readonly Entry[], time: number): Promise<void> =>
  inPlace(file, (unfinished) => pipeline(tar(withFolders(entries), time), createWriteStream(unfinished)));

export async function writeTarGz(file: string, entries: readonly Entry[], time: number): Promise<void> {
  const gzip = await ensureGzip();
  await inPlace(file, (unfinished) =>
    compressed(gzip, tar(withFolders(entries), time), (output) => pipeline(output, createWriteStream(unfinished))),
  );
}

/** Gives what `source` gives, compressed, to `taken`. */
export async function compressed(
  gzip: string,
  source: AsyncIterable<Buffer>,
  taken: (output: Readable) => Promise<void>,
): Promise<void> {
  const compressor = spawn(gzip, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve, reject) => {
    compressor.on("error", reject);
    compressor.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`${gzip} ended with ${code}.`))));
  });
  await Promise.all([pipeline(source, compressor.stdin), taken(compressor.stdout), ended]);
}

/** Never leaves a file that is not whole. */
async function inPlace(file: string, write: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = `${file}.${process.pid}`;
  try {
    await write(unfinished);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
