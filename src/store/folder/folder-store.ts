// A store in a folder, such as a mounted volume. An object is written under a hidden name beside its own, synced and then
// renamed, so that a crash at any moment leaves either the object or none.
import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { type FileHandle, link, mkdir, open, rename, stat, unlink } from "node:fs/promises";
import * as path from "node:path";
import type { StoreAttempt } from "../attempt.ts";
import { BaseStore, undefinedIf } from "../base-store.ts";
import { bodyOf } from "../body.ts";
import { StoreError } from "../errors.ts";
import type { LeftoversCall, ObjectInfo, ObjectStore, PutOptions, StoreCall, StoredObject } from "../store.ts";
import { untilAborted } from "../until-aborted.ts";
import { folderRefusals, isMissing } from "./folder-errors.ts";
import { isTemporary, objectsIn, temporaryName, temporariesIn } from "./folder-listing.ts";

export class FolderStore extends BaseStore implements ObjectStore {
  readonly #root: string;
  /** Temporary files that this process is writing. */
  readonly #writing = new Set<string>();

  constructor(folder: string) {
    const root = path.resolve(folder);
    super(`folder ${root}`, folderRefusals);
    this.#root = root;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<void> {
    const attempt = this.attempt("write", key, options);
    const target = this.#file(key);
    const temporary = path.join(path.dirname(target), temporaryName(path.basename(target), randomBytes(6)));
    this.#writing.add(temporary);
    try {
      await attempt.run(async () => {
        await this.#mustExist(attempt);
        if (options.mustBeNew === true && (await statsOf(target))) throw attempt.failure("exists");
        await mkdir(path.dirname(target), { recursive: true });
      });
      const file = await attempt.run(() => open(temporary, "wx", 0o640));
      try {
        // An error of the body is none of the folder, though it may have the same code.
        for await (const chunk of untilAborted(body, options.signal)) await attempt.run(() => writeAll(file, chunk));
        await attempt.run(() => file.sync());
      } finally {
        await file.close();
      }
      await attempt.run(async () => {
        // A hard link, unlike a rename, does not replace what is there.
        await (options.mustBeNew === true ? link(temporary, target) : rename(temporary, target));
        await this.#syncFolders(path.dirname(target));
      });
    } finally {
      await unlink(temporary).catch(() => undefined);
      this.#writing.delete(temporary);
    }
  }

  async get(key: string, call: StoreCall = {}): Promise<StoredObject | undefined> {
    const attempt = this.attempt("read", key, call);
    return attempt.run(async () => {
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
      return { ...infoOf(key, stats), body: bodyOf(stream, (error) => attempt.explained(error), call.signal) };
    });
  }

  async head(key: string, call: StoreCall = {}): Promise<ObjectInfo | undefined> {
    const attempt = this.attempt("look up", key, call);
    return attempt.run(async () => {
      const stats = await statsOf(this.#file(key));
      if (stats?.isFile() === true) return infoOf(key, stats);
      await this.#mustExist(attempt);
      return undefined;
    });
  }

  async *list(prefix: string, call: StoreCall = {}): AsyncGenerator<ObjectInfo> {
    const attempt = this.attempt("list", prefix, call);
    try {
      await this.#mustExist(attempt);
      for await (const { key, file } of objectsIn(this.#root, prefix)) {
        call.signal?.throwIfAborted();
        const stats = await statsOf(file);
        if (stats?.isFile() === true) yield infoOf(key, stats);
      }
    } catch (error) {
      throw attempt.explained(error);
    }
  }

  async delete(key: string, call: StoreCall = {}): Promise<void> {
    const attempt = this.attempt("delete", key, call);
    await attempt.run(async () => {
      const stats = await statsOf(this.#file(key));
      if (stats?.isFile() === true) {
        await unlink(this.#file(key)).catch(undefinedIfMissing);
        await this.#syncFolders(path.dirname(this.#file(key)));
      } else await this.#mustExist(attempt);
    });
  }

  async abortLeftovers(prefix: string, call: LeftoversCall = {}): Promise<number> {
    const attempt = this.attempt("clean up", prefix, call);
    return attempt.run(async () => {
      await this.#mustExist(attempt);
      let removed = 0;
      const meaning = call.exactly === true ? "key" : "prefix";
      for await (const { key, file } of temporariesIn(this.#root, prefix, meaning)) {
        call.signal?.throwIfAborted();
        if (this.#writing.has(file) || (await call.only?.(key)) === false) continue;
        await unlink(file).catch(undefinedIfMissing);
        removed += 1;
      }
      return removed;
    });
  }

  close(): void {
    // Nothing is held open.
  }

  #file(key: string): string {
    if (isTemporary(path.basename(key)))
      throw new StoreError("refused", `The key ${JSON.stringify(key)} looks like an unfinished file. Choose another.`);
    return path.join(this.#root, key);
  }

  async #mustExist(attempt: StoreAttempt): Promise<void> {
    const stats = await statsOf(this.#root);
    if (stats?.isDirectory() !== true) throw attempt.failure("noBucket");
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
}

const infoOf = (key: string, stats: Stats): ObjectInfo => ({
  key,
  bytes: stats.size,
  modified: Math.floor(stats.mtimeMs),
});

const undefinedIfMissing = undefinedIf(isMissing);

const statsOf = (file: string): Promise<Stats | undefined> => stat(file).catch(undefinedIfMissing);

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at, chunk.length - at)).bytesWritten;
}
