// Keys that are ready to run, in three lanes of first come, first served. A higher lane goes first, but a lane that
// was passed over often enough gets its turn: a stream of urgent work slows the rest down and never stops it.

export type Priority = "high" | "normal" | "low";

const order: readonly Priority[] = ["high", "normal", "low"];

/** A lane that has waited while this many others went before it is served next. */
const patience: Readonly<Record<Priority, number>> = { high: Number.POSITIVE_INFINITY, normal: 4, low: 16 };

export function higher(a: Priority, b: Priority): Priority {
  return order.indexOf(a) <= order.indexOf(b) ? a : b;
}

export class Lanes {
  readonly #lanes: Readonly<Record<Priority, Lane>> = { high: new Lane(), normal: new Lane(), low: new Lane() };
  readonly #laneOf = new Map<string, Priority>();

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
      this.#lanes[present].remove(key);
    }
    this.#laneOf.set(key, priority);
    this.#lanes[priority].push(key);
  }

  pop(): { key: string; priority: Priority } | undefined {
    const waiting = order.filter((priority) => this.#lanes[priority].size > 0);
    const chosen = waiting.findLast((priority) => this.#lanes[priority].passedOver >= patience[priority]) ?? waiting[0];
    if (chosen === undefined) return undefined;
    for (const priority of waiting) this.#lanes[priority].passedOver += 1;
    const lane = this.#lanes[chosen];
    lane.passedOver = 0;
    const key = lane.shift();
    if (key === undefined) return undefined;
    this.#laneOf.delete(key);
    return { key, priority: chosen };
  }

  clear(): void {
    this.#laneOf.clear();
    for (const priority of order) this.#lanes[priority].clear();
  }
}

/** First in, first out, with removal from the middle in constant time: a removed key leaves a hole behind. */
class Lane {
  passedOver = 0;
  #slots: (string | undefined)[] = [];
  #head = 0;
  readonly #slotOf = new Map<string, number>();

  get size(): number {
    return this.#slotOf.size;
  }

  push(key: string): void {
    if (this.size === 0) this.clear();
    this.#slotOf.set(key, this.#slots.push(key) - 1);
  }

  remove(key: string): void {
    const slot = this.#slotOf.get(key);
    if (slot === undefined) return;
    this.#slots[slot] = undefined;
    this.#slotOf.delete(key);
  }

  shift(): string | undefined {
    while (this.#head < this.#slots.length) {
      const key = this.#slots[this.#head];
      this.#slots[this.#head] = undefined;
      this.#head += 1;
      if (key === undefined) continue;
      this.#slotOf.delete(key);
      if (this.#head > 32 && this.#head * 2 > this.#slots.length) this.#compact();
      return key;
    }
    return undefined;
  }

  clear(): void {
    this.passedOver = 0;
    this.#slots = [];
    this.#head = 0;
    this.#slotOf.clear();
  }

  /** Paid for by the shifts since the last time, so that a shift costs constant time on average. */
  #compact(): void {
    this.#slots = this.#slots.slice(this.#head);
    this.#head = 0;
    for (const [slot, key] of this.#slots.entries()) if (key !== undefined) this.#slotOf.set(key, slot);
  }
}
