// Objects of one kind by key, with indexes. An index is built when it is first asked for and kept up to date from then
// on, so a store pays memory only for the questions that somebody asks.
import { keyOf, keyText, type Key, type KubeObject } from "../objects/objects.ts";

/** What others may do with a store. The objects are frozen in depth: copy before you change one. */
export interface StoreView<T extends KubeObject> {
  readonly size: number;
  get(key: Key): T | undefined;
  values(): IterableIterator<T>;
  /** Those that have an owner reference with this uid, the controlling one or another. */
  ownedBy(uid: string): T[];
  withLabel(name: string, value: string): T[];
  /** By an index that was named when the store was made; asking for another one is a mistake and throws. */
  byIndex(index: string, value: string): T[];
}

interface StoreOptions<T extends KubeObject> {
  indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Called when an index function throws. */
  onError?: (error: unknown) => void;
}

export class Store<T extends KubeObject> implements StoreView<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, StoreIndex<T>>();
  readonly #custom: Readonly<Record<string, IndexFunction<T>>>;
  readonly #onError: (error: unknown) => void;

  constructor(options: StoreOptions<T> = {}) {
    this.#custom = options.indexes ?? {};
    this.#onError = options.onError ?? (() => undefined);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: Key): T | undefined {
    return this.#objects.get(keyText(key));
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  ownedBy(uid: string): T[] {
    return this.#find("owner", ownerUids, uid);
  }

  withLabel(name: string, value: string): T[] {
    return this.#find(`label ${name}`, labelValue(name), value);
  }

  byIndex(index: string, value: string): T[] {
    const valuesOf = this.#custom[index];
    if (valuesOf === undefined) throw new Error(`The store has no index ${JSON.stringify(index)}`);
    return this.#find(`custom ${index}`, valuesOf, value);
  }

  /** Stores the object and returns the one that it replaced. */
  put(object: T): T | undefined {
    const key = keyText(keyOf(object));
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) {
      if (old !== undefined) index.remove(key, old);
      index.add(key, object);
    }
    return old;
  }

  remove(key: Key): T | undefined {
    const text = keyText(key);
    const old = this.#objects.get(text);
    if (old === undefined) return undefined;
    this.#objects.delete(text);
    for (const index of this.#indexes.values()) index.remove(text, old);
    return old;
  }

  #find(name: string, valuesOf: IndexFunction<T>, value: string): T[] {
    const found: T[] = [];
    for (const key of this.#index(name, valuesOf).keys(value)) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  #index(name: string, valuesOf: IndexFunction<T>): StoreIndex<T> {
    const existing = this.#indexes.get(name);
    if (existing !== undefined) return existing;
    const index = new StoreIndex(valuesOf, this.#onError);
    for (const [key, object] of this.#objects) index.add(key, object);
    this.#indexes.set(name, index);
    return index;
  }
}

function ownerUids(object: KubeObject): string[] {
  return object.metadata?.ownerReferences?.map((owner) => owner.uid) ?? [];
}

function labelValue(name: string): (object: KubeObject) => string[] {
  return (object) => {
    const value = object.metadata?.labels?.[name];
    return value === undefined ? [] : [value];
  };
}

/** Pure: the values of an object are computed again when it leaves the store. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

const none: ReadonlySet<string> = new Set();

/** Which keys go with a value. It keeps no second copy of the values. */
class StoreIndex<T extends KubeObject> {
  readonly #valuesOf: IndexFunction<T>;
  readonly #onError: (error: unknown) => void;
  readonly #keysByValue = new Map<string, Set<string>>();

  constructor(valuesOf: IndexFunction<T>, onError: (error: unknown) => void) {
    this.#valuesOf = valuesOf;
    this.#onError = onError;
  }

  keys(value: string): ReadonlySet<string> {
    return this.#keysByValue.get(value) ?? none;
  }

  add(key: string, object: T): void {
    for (const value of this.#values(object)) {
      const keys = this.#keysByValue.get(value);
      if (keys === undefined) this.#keysByValue.set(value, new Set([key]));
      else keys.add(key);
    }
  }

  remove(key: string, object: T): void {
    for (const value of this.#values(object)) {
      const keys = this.#keysByValue.get(value);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysByValue.delete(value);
    }
  }

  /** An object that the function cannot digest is left out of this index; the store and its feed go on. */
  #values(object: T): readonly string[] {
    try {
      return this.#valuesOf(object);
    } catch (error) {
      this.#onError(error);
      return [];
    }
  }
}

/** Cached objects are shared by everybody who reads the cache, so a change to one must fail where it is made. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
