// Keys that are ready to run, in a lane for each priority, first come, first served. A higher lane goes first, but a lane
// that was passed over often enough is served next: urgent work slows the rest down and never stops it. When a crowd waits
// in the high lane, every second turn goes to who came last: otherwise everybody would wait for everybody before them, and
// a person who has just asked for one thing would wait for a script that asked for a hundred.

export type Priority = "high" | "normal" | "low";

const order: readonly Priority[] = ["high", "normal", "low"];

/** A lane that has waited while this many others went before it is served next. */
const patience: Readonly<Record<Priority, number>> = { high: Number.POSITIVE_INFINITY, normal: 4, low: 16 };

/** Enough for the next key to wait for more than a few turns. */
const crowd = 8;

export function higher(a: Priority, b: Priority): Priority {
  return order.indexOf(a) <= order.indexOf(b) ? a : b;
}

export class Lanes {
  // A Set keeps the order of insertion, and takes a key out of the middle at once.
  readonly #lanes: Readonly<Record<Priority, Set<string>>> = { high: new Set(), normal: new Set(), low: new Set() };
  // Kept from one key to the next: a new iterator walks over all that has been taken out before it.
  readonly #heads: Record<Priority, SetIterator<string>> = {
    high: this.#lanes.high.values(),
    normal: this.#lanes.normal.values(),
    low: this.#lanes.low.values(),
  };
  readonly #passedOver: Record<Priority, number> = { high: 0, normal: 0, low: 0 };
  readonly #laneOf = new Map<string, Priority>();
  /** The high lane from its other end. Keys that have left it, or come again since, are skipped. */
  #latest: { readonly key: string; readonly turn: number }[] = [];
  readonly #turnOf = new Map<string, number>();
  #turns = 0;
  #newestIsNext = false;

  get size(): number {
    return this.#laneOf.size;
  }

  laneOf(key: string): Priority | undefined {
    return this.#laneOf.get(key);
  }

  /** Puts the key at the end of a lane; one that waits in a lower lane moves up, and none ever moves down. */
  push(key: string, priority: Priority): void {
    const present = this.#laneOf.get(key);
    if (present !== undefined) {
      if (higher(present, priority) === present) return;
      this.#lanes[present].delete(key);
    }
    this.#laneOf.set(key, priority);
    if (this.#lanes[priority].size === 0) this.#passedOver[priority] = 0;
    this.#lanes[priority].add(key);
    if (priority === "high") this.#noteLatest(key);
  }

  pop(): { key: string; priority: Priority } | undefined {
    const waiting = order.filter((priority) => this.#lanes[priority].size > 0);
    const chosen = waiting.findLast((priority) => this.#passedOver[priority] >= patience[priority]) ?? waiting[0];
    if (chosen === undefined) return undefined;
    for (const priority of waiting) this.#passedOver[priority] += 1;
    this.#passedOver[chosen] = 0;
    const key = (chosen === "high" ? this.#newestOfCrowd() : undefined) ?? this.#first(chosen);
    this.#lanes[chosen].delete(key);
    this.#turnOf.delete(key);
    this.#laneOf.delete(key);
    return { key, priority: chosen };
  }

  #noteLatest(key: string): void {
    this.#turns += 1;
    this.#turnOf.set(key, this.#turns);
    this.#latest.push({ key, turn: this.#turns });
    if (this.#latest.length > 2 * this.#lanes.high.size + crowd)
      this.#latest = this.#latest.filter((one) => this.#turnOf.get(one.key) === one.turn);
  }

  /** Undefined when it is not its turn. */
  #newestOfCrowd(): string | undefined {
    if (this.#lanes.high.size < crowd) return undefined;
    this.#newestIsNext = !this.#newestIsNext;
    if (!this.#newestIsNext) return undefined;
    for (;;) {
      const last = this.#latest.pop();
      if (last === undefined || this.#turnOf.get(last.key) === last.turn) return last?.key;
    }
  }

  /** The first key of a lane that is not empty. */
  #first(priority: Priority): string {
    for (;;) {
      const { done, value } = this.#heads[priority].next();
      if (!done) return value;
      this.#heads[priority] = this.#lanes[priority].values();
    }
  }

  clear(): void {
    this.#laneOf.clear();
    this.#turnOf.clear();
    this.#latest = [];
    for (const priority of order) this.#lanes[priority].clear();
  }
}
