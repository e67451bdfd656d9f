// A map that never holds more than so many entries: the one that was used least recently makes room.

export class BoundedMap<K, V> {
  readonly #limit: number;
  // A Map keeps the order of insertion, so the first entry is always the oldest.
  readonly #entries = new Map<K, V>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > this.#limit && !oldest.done) this.#entries.delete(oldest.value);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  values(): Iterable<V> {
    return this.#entries.values();
  }
}
