// A store in memory, which can be told to fail.
import { StoreError, type StoreErrorCode } from "../../store/errors.ts";
import type { ObjectInfo, ObjectStore, PutOptions, StoreCall, StoredObject } from "../../store/store.ts";

type Verb = "write" | "read" | "look up" | "list" | "delete" | "clean up";

export class MemoryStore implements ObjectStore {
  readonly name = "memory://store";
  readonly locked = new Set<string>();
  readonly objects = new Map<string, { bytes: Uint8Array; modified: number }>();
  readonly leftovers: string[] = [];
  readonly #now: () => number;
  #failures: { code: StoreErrorCode; to?: Verb; times: number }[] = [];

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  fail(code: StoreErrorCode, { to, times = 1 }: { to?: Verb; times?: number } = {}): void {
    this.#failures.push({ code, times, ...(to && { to }) });
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<void> {
    this.#begin("write", key, options);
    const held: Uint8Array[] = [];
    for await (const chunk of body) {
      options.signal?.throwIfAborted();
      held.push(Uint8Array.from(chunk));
    }
    options.signal?.throwIfAborted();
    this.objects.set(key, { bytes: Buffer.concat(held), modified: this.#now() });
  }

  async get(key: string, call: StoreCall = {}): Promise<StoredObject | undefined> {
    this.#begin("read", key, call);
    const object = this.objects.get(key);
    if (!object) return undefined;
    return { key, bytes: object.bytes.length, modified: object.modified, body: pieces(object.bytes) };
  }

  async head(key: string, call: StoreCall = {}): Promise<ObjectInfo | undefined> {
    this.#begin("look up", key, call);
    return this.#info(key);
  }

  async *list(prefix: string, call: StoreCall = {}): AsyncGenerator<ObjectInfo> {
    this.#begin("list", prefix, call);
    for (const key of this.objects.keys()) {
      const info = this.#info(key);
      if (info && key.startsWith(prefix)) yield info;
    }
  }

  async delete(key: string, call: StoreCall = {}): Promise<void> {
    this.#begin("delete", key, call);
    if (this.locked.has(key)) throw new StoreError("locked", `${key} is locked`);
    this.objects.delete(key);
  }

  async abortLeftovers(prefix: string, call: StoreCall = {}): Promise<number> {
    this.#begin("clean up", prefix, call);
    return this.leftovers.splice(0, this.leftovers.length).length;
  }

  close(): void {
    // Nothing is held.
  }

  #info(key: string): ObjectInfo | undefined {
    const object = this.objects.get(key);
    return object && { key, bytes: object.bytes.length, modified: object.modified };
  }

  #begin(to: Verb, key: string, { signal }: StoreCall): void {
    signal?.throwIfAborted();
    const failure = this.#failures.find((one) => one.to === undefined || one.to === to);
    if (!failure) return;
    failure.times -= 1;
    this.#failures = this.#failures.filter(({ times }) => times > 0);
    throw new StoreError(failure.code, `${to} ${key}: as the test wants it`);
  }
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65536) yield Uint8Array.from(bytes.subarray(at, at + 65536));
}
