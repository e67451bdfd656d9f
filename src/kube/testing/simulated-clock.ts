// A Clock for tests: time stands still until the test moves it, and timers run in the order of their times.
import type { Cancel, Clock } from "../clock.ts";

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export class SimulatedClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();
  readonly #work = new Set<Promise<unknown>>();

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

  /** Time stands still until this is done, however long it takes in reality. */
  standStillFor<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    const isDone = (): boolean => this.#work.delete(work);
    work.then(isDone, isDone);
    return work;
  }

  /** Moves time on at once, as for a process that was stopped meanwhile: what was due in between comes late. */
  leap(ms: number): void {
    this.#now += ms;
  }

  /** Moves time on, timer by timer, and lets the promises that each one resolved run before the next. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await this.#settle();
    for (;;) {
      const next = this.#earliest();
      if (next === undefined || next.at > until) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await this.#settle();
    }
    this.#now = until;
  }

  async #settle(): Promise<void> {
    await settle();
    while (this.#work.size > 0) {
      await Promise.allSettled(this.#work);
      await settle();
    }
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
