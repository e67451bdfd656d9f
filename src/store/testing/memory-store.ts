// A store in memory, for tests of what uses stores. It passes the contract, and can fail on request.
import type { StoreAttempt, Refusals } from "../attempt.ts";
import { BaseStore, isMeant } from "../base-store.ts";
import type { StoreErrorCode } from "../errors.ts";
import type { Verb } from "../sentences.ts";
import type { LeftoversCall, ObjectInfo, ObjectStore, PutOptions, StoreCall, StoredObject } from "../store.ts";
import { untilAborted } from "../until-aborted.ts";

const refusals: Refusals = {
  wording: {
    place: "bucket",
    permissions: {
      write: "permission to write",
      read: "permission to read",
      "look up": "permission to read",
      list: "permission to list",
      delete: "permission to delete",
      "clean up": "permission to list uploads",
    },
  },
  finding: () => undefined,
};

export class MemoryStore extends BaseStore implements ObjectStore {
  /** Kept by a retention: deleting and replacing them is refused. */
  readonly locked = new Set<string>();
  readonly objects = new Map<string, { bytes: Uint8Array; modified: number }>();
  /** Keys of uploads that were given up without a word. */
  readonly leftovers: string[] = [];
  readonly #now: () => number;
  #failures: { code: StoreErrorCode; to?: Verb; times: number }[] = [];

  constructor(now: () => number = Date.now) {
    super("memory://store", refusals);
    this.#now = now;
  }

  /** The next calls, of this kind or of any, fail so. */
  fail(code: StoreErrorCode, { to, times = 1 }: { to?: Verb; times?: number } = {}): void {
    this.#failures.push({ code, times, ...(to && { to }) });
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<void> {
    const attempt = this.#begin("write", key, options);
    const held: Uint8Array[] = [];
    for await (const chunk of untilAborted(body, options.signal)) held.push(Uint8Array.from(chunk));
    options.signal?.throwIfAborted();
    if (options.mustBeNew === true && this.objects.has(key)) throw attempt.failure("exists");
    if (this.locked.has(key)) throw attempt.failure("locked");
    this.objects.set(key, { bytes: Buffer.concat(held), modified: this.#now() });
  }

  async get(key: string, call: StoreCall = {}): Promise<StoredObject | undefined> {
    this.#begin("read", key, call);
    const object = this.objects.get(key);
    if (!object) return undefined;
    const body = untilAborted(pieces(object.bytes), call.signal);
    return { key, bytes: object.bytes.length, modified: object.modified, body };
  }

  async head(key: string, call: StoreCall = {}): Promise<ObjectInfo | undefined> {
    this.#begin("look up", key, call);
    return this.#info(key);
  }

  async *list(prefix: string, call: StoreCall = {}): AsyncGenerator<ObjectInfo> {
    this.#begin("list", prefix, call);
    for (const key of this.objects.keys()) {
      call.signal?.throwIfAborted();
      const info = this.#info(key);
      if (info && key.startsWith(prefix)) yield info;
    }
  }

  async delete(key: string, call: StoreCall = {}): Promise<void> {
    const attempt = this.#begin("delete", key, call);
    if (this.locked.has(key)) throw attempt.failure("locked");
    this.objects.delete(key);
  }

  async abortLeftovers(prefix: string, call: LeftoversCall = {}): Promise<number> {
    this.#begin("clean up", prefix, call);
    const before = this.leftovers.length;
    const others: string[] = [];
    for (const key of this.leftovers) {
      if (!isMeant(key, prefix, call) || (await call.only?.(key)) === false) others.push(key);
    }
    this.leftovers.splice(0, before, ...others);
    return before - others.length;
  }

  close(): void {
    // Nothing is held.
  }

  #info(key: string): ObjectInfo | undefined {
    const object = this.objects.get(key);
    return object && { key, bytes: object.bytes.length, modified: object.modified };
  }

  #begin(to: Verb, key: string, call: StoreCall): StoreAttempt {
    call.signal?.throwIfAborted();
    const attempt = this.attempt(to, key, call);
    const failure = this.#failures.find((one) => one.to === undefined || one.to === to);
    if (!failure) return attempt;
    failure.times -= 1;
    this.#failures = this.#failures.filter(({ times }) => times > 0);
    throw attempt.failure(failure.code, "as the test wants it");
  }
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const size = 64 * 1024;
  for (let at = 0; at < bytes.length; at += size) yield Uint8Array.from(bytes.subarray(at, at + size));
}
