// A Clock for tests: time stands still until the test moves it, and timers run in the order of their times.
import type { Cancel, Clock } from "../clock.ts";

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export class SimulatedClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): Cancel {
    const timer = { at: this.#now + Math.max(0, ms), run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers are waiting: a test that ends with some has found a leak. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Moves time on, timer by timer, and lets the promises that each one resolved run before the next. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (;;) {
      const next = this.#earliest();
      if (next === undefined || next.at > until) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.run();
      await settle();
    }
    this.#now = until;
  }

  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) if (earliest === undefined || timer.at < earliest.at) earliest = timer;
    return earliest;
  }
}

/** Lets everything that needs no more time run: a turn of the event loop comes after all microtasks. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
