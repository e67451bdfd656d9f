// A store in a folder, such as a mounted volume. An object is written under a hidden name beside its own, synced and then
// renamed, so that a crash at any moment leaves either the object or none.
import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { type FileHandle, link, mkdir, open, rename, stat, unlink } from "node:fs/promises";
import * as path from "node:path";
import { bodyOf } from "../body.ts";
import { StoreError } from "../errors.ts";
import { checkKey } from "../path.ts";
import type { Attempt, Verb } from "../sentences.ts";
import { storeError } from "../sentences.ts";
import type { LeftoversCall, ObjectInfo, ObjectStore, PutOptions, StoreCall, StoredObject } from "../store.ts";
import { untilAborted } from "../until-aborted.ts";
import { folderProblem, folderWording, isMissing } from "./folder-errors.ts";
import { isTemporary, objectsIn, temporaryName, temporariesIn } from "./folder-listing.ts";

export class FolderStore implements ObjectStore {
  readonly name: string;
  readonly #root: string;
  /** Temporary files that this process is writing. */
  readonly #writing = new Set<string>();

  constructor(folder: string) {
    this.#root = path.resolve(folder);
    this.name = `folder ${this.#root}`;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<void> {
    const attempt = this.#attempt("write", key);
    const target = this.#file(key);
    const temporary = path.join(path.dirname(target), temporaryName(path.basename(target), randomBytes(6)));
    this.#writing.add(temporary);
    try {
      options.signal?.throwIfAborted();
      await this.#trying(attempt, async () => {
        await this.#mustExist(attempt);
        if (options.mustBeNew === true && (await infoOf(target))) throw exists(attempt);
        await mkdir(path.dirname(target), { recursive: true });
      });
      const file = await this.#trying(attempt, () => open(temporary, "wx", 0o640));
      try {
        for await (const chunk of untilAborted(body, options.signal))
          await this.#trying(attempt, () => writeAll(file, chunk));
        options.signal?.throwIfAborted();
        await this.#trying(attempt, () => file.sync());
      } finally {
        await file.close();
      }
      await this.#trying(attempt, async () => {
        // A hard link, unlike a rename, does not replace what is there.
        await (options.mustBeNew === true ? link(temporary, target) : rename(temporary, target));
        await this.#syncFolders(path.dirname(target));
      });
    } finally {
      await unlink(temporary).catch(() => undefined);
      this.#writing.delete(temporary);
    }
  }

  async get(key: string, { signal }: StoreCall = {}): Promise<StoredObject | undefined> {
    signal?.throwIfAborted();
    const attempt = this.#attempt("read", key);
    return this.#trying(attempt, async () => {
      const file = await open(this.#file(key)).catch(undefinedIfMissing);
      if (!file) {
        await this.#mustExist(attempt);
        return undefined;
      }
      const stats = await file.stat();
      if (!stats.isFile()) {
        await file.close();
        return undefined;
      }
      const stream = file.createReadStream({ highWaterMark: 256 * 1024 });
      return { ...info(key, stats), body: bodyOf(stream, (error) => this.#explained(attempt, error), signal) };
    });
  }

  async head(key: string, { signal }: StoreCall = {}): Promise<ObjectInfo | undefined> {
    signal?.throwIfAborted();
    const attempt = this.#attempt("look up", key);
    return this.#trying(attempt, async () => {
      const stats = await infoOf(this.#file(key));
      if (stats?.isFile() === true) return info(key, stats);
      await this.#mustExist(attempt);
      return undefined;
    });
  }

  async *list(prefix: string, { signal }: StoreCall = {}): AsyncGenerator<ObjectInfo> {
    const attempt = this.#attempt("list", prefix);
    try {
      await this.#mustExist(attempt);
      for await (const { key, file } of objectsIn(this.#root, prefix)) {
        signal?.throwIfAborted();
        const stats = await infoOf(file);
        if (stats?.isFile() === true) yield info(key, stats);
      }
    } catch (error) {
      throw this.#explained(attempt, error);
    }
  }

  async delete(key: string, { signal }: StoreCall = {}): Promise<void> {
    signal?.throwIfAborted();
    const attempt = this.#attempt("delete", key);
    await this.#trying(attempt, async () => {
      const stats = await infoOf(this.#file(key));
      if (stats?.isFile() === true) {
        await unlink(this.#file(key)).catch(undefinedIfMissing);
        await this.#syncFolders(path.dirname(this.#file(key)));
      } else await this.#mustExist(attempt);
    });
  }

  async abortLeftovers(prefix: string, { signal, exactly, only }: LeftoversCall = {}): Promise<number> {
    const attempt = this.#attempt("clean up", prefix);
    return this.#trying(attempt, async () => {
      await this.#mustExist(attempt);
      let removed = 0;
      for await (const { key, file } of temporariesIn(this.#root, prefix, exactly === true ? "key" : "prefix")) {
        signal?.throwIfAborted();
        if (this.#writing.has(file) || (await only?.(key)) === false) continue;
        await unlink(file).catch(undefinedIfMissing);
        removed += 1;
      }
      return removed;
    });
  }

  close(): void {
    // Nothing is held open.
  }

  #attempt(to: Verb, key: string): Attempt {
    return { store: this.name, to, key };
  }

  #file(key: string): string {
    checkKey(key);
    if (isTemporary(path.basename(key)))
      throw new StoreError("refused", `The key ${JSON.stringify(key)} looks like an unfinished file. Choose another.`);
    return path.join(this.#root, key);
  }

  async #mustExist(attempt: Attempt): Promise<void> {
    const stats = await infoOf(this.#root);
    if (stats?.isDirectory() !== true) throw storeError(attempt, folderWording, { code: "noBucket", said: "" });
  }

  /** A file is there after a power cut when its folder was synced, and that one's folder. */
  async #syncFolders(from: string): Promise<void> {
    for (let folder = from; ; folder = path.dirname(folder)) {
      const handle = await open(folder);
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
      if (folder === this.#root) return;
    }
  }

  async #trying<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#explained(attempt, error);
    }
  }

  #explained(attempt: Attempt, error: unknown): unknown {
    return folderProblem(attempt, error) ?? error;
  }
}

const info = (key: string, stats: Stats): ObjectInfo => ({
  key,
  bytes: stats.size,
  modified: Math.floor(stats.mtimeMs),
});

const exists = (attempt: Attempt): StoreError => storeError(attempt, folderWording, { code: "exists", said: "" });

function undefinedIfMissing(error: unknown): undefined {
  if (isMissing(error)) return undefined;
  throw error;
}

const infoOf = (file: string): Promise<Stats | undefined> => stat(file).catch(undefinedIfMissing);

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at, chunk.length - at)).bytesWritten;
}
