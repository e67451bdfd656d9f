// One index of a store: which keys go with a value. It keeps no second copy of the values; they are computed again
// from the old object when it leaves, which is why stored objects are frozen and index functions must be pure.
import type { KubeObject } from "../objects/objects.ts";

export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

const none: ReadonlySet<string> = new Set();

export class StoreIndex<T extends KubeObject> {
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
