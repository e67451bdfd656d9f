// Keys that wait for a time: a binary heap that knows where each key is, so that one can be moved or taken out
// again without leaving a dead entry behind.

interface Entry {
  readonly key: string;
  at: number;
}

export class Delays {
  readonly #heap: Entry[] = [];
  readonly #position = new Map<string, number>();

  get size(): number {
    return this.#heap.length;
  }

  /** When the key is due, if it waits. */
  at(key: string): number | undefined {
    return this.#entry(key)?.at;
  }

  earliest(): number | undefined {
    return this.#heap[0]?.at;
  }

  /** The earlier of two times for one key stands. */
  set(key: string, at: number): void {
    const entry = this.#entry(key);
    if (entry === undefined) {
      this.#place({ key, at }, this.#heap.length);
      this.#rise(this.#heap.length - 1);
    } else if (at < entry.at) {
      entry.at = at;
      this.#rise(this.#position.get(key) ?? 0);
    }
  }

  delete(key: string): boolean {
    const position = this.#position.get(key);
    if (position === undefined) return false;
    this.#position.delete(key);
    const last = this.#heap.pop();
    if (last !== undefined && last.key !== key) {
      this.#place(last, position);
      this.#rise(position);
      this.#sink(this.#position.get(last.key) ?? position);
    }
    return true;
  }

  /** Takes out the earliest key that is due at `now`. */
  takeDue(now: number): string | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.at > now) return undefined;
    this.delete(first.key);
    return first.key;
  }

  clear(): void {
    this.#heap.length = 0;
    this.#position.clear();
  }

  #entry(key: string): Entry | undefined {
    const position = this.#position.get(key);
    return position === undefined ? undefined : this.#heap[position];
  }

  #place(entry: Entry, position: number): void {
    this.#heap[position] = entry;
    this.#position.set(entry.key, position);
  }

  #rise(from: number): void {
    let position = from;
    while (position > 0 && this.#swapIfLater((position - 1) >> 1, position)) position = (position - 1) >> 1;
  }

  #sink(from: number): void {
    let position = from;
    for (;;) {
      const left = 2 * position + 1;
      const leftAt = this.#heap[left]?.at ?? Number.POSITIVE_INFINITY;
      const rightAt = this.#heap[left + 1]?.at ?? Number.POSITIVE_INFINITY;
      const child = rightAt < leftAt ? left + 1 : left;
      if (!this.#swapIfLater(position, child)) return;
      position = child;
    }
  }

  #swapIfLater(parent: number, child: number): boolean {
    const above = this.#heap[parent];
    const below = this.#heap[child];
    if (above === undefined || below === undefined || above.at <= below.at) return false;
    this.#place(above, child);
    this.#place(below, parent);
    return true;
  }
}
