// Everything that can go wrong between a caller and the API server, on demand: failed and ambiguous calls, delays,
// silence, broken watches, and a past that is shown as the present.
import { TransportError } from "../../../transport/errors.ts";
import type { RequestOptions } from "../../client/api.ts";
import type { Clock } from "../../clock.ts";
import { matchesCall, type Call, type Match } from "./calls.ts";
import type { WatchStream } from "./watch-stream.ts";

type Effect =
  | { readonly t: "fail"; readonly error: () => Error; readonly when: "before" | "after" }
  | { readonly t: "delay"; readonly ms: number };

interface Rule {
  readonly match: Match;
  readonly effect: Effect;
  left: number;
}

interface FailOptions {
  /** How many matching calls fail; one when absent. */
  times?: number;
  /** `after`: the server carries the call out, and the caller never learns. */
  when?: "before" | "after";
}

/** What faults need of the server that they surround. */
interface Surroundings {
  readonly clock: Clock;
  revision(): number;
  watches(): Iterable<WatchStream>;
  forget(): void;
}

/** Ends a fault that lasts. */
type End = () => void;

export class Faults {
  readonly #around: Surroundings;
  readonly #rules = new Set<Rule>();
  readonly #frozen = new Set<Match>();
  readonly #held = new Set<Match>();
  readonly #stale = new Map<Match, number>();
  readonly #waiting = new Set<() => void>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  fail(match: Match, error: Error | (() => Error), { times = 1, when = "before" }: FailOptions = {}): End {
    const make = typeof error === "function" ? error : (): Error => error;
    return this.#add(match, { t: "fail", error: make, when }, times);
  }

  /** The connection breaks; `after` it the caller cannot know whether the server carried the call out. */
  breakConnection(match: Match, options?: FailOptions): End {
    return this.fail(match, () => new TransportError("broken", "the connection broke"), options);
  }

  delay(match: Match, ms: number, times: number = Number.POSITIVE_INFINITY): End {
    return this.#add(match, { t: "delay", ms }, times);
  }

  /** Matching calls get no answer, and watches tell nothing, until the freeze is ended. */
  freeze(match: Match = {}): End {
    this.#frozen.add(match);
    return () => {
      this.#frozen.delete(match);
      this.#letGo();
    };
  }

  /** Watches tell nothing until released, while every other call works: the caller's cache falls behind. */
  holdWatches(match: Match = {}): End {
    this.#held.add(match);
    return () => {
      this.#held.delete(match);
      this.#letGo();
    };
  }

  /** Matching gets and lists are answered as of now, whatever is written from now on. */
  showThePast(match: Match = {}): End {
    this.#stale.set(match, this.#around.revision());
    return () => this.#stale.delete(match);
  }

  /** Ends the watches: with an error as a broken connection does, without one as a server that closes cleanly. */
  cutWatches(error?: Error, match: Match = {}): void {
    for (const watch of this.#around.watches()) if (matchesCall(match, watch.call)) watch.end(error);
  }

  /** Forgets all history: old resource versions and page tokens are 410 from now on, held watches and a shown past too. */
  expireHistory(): void {
    this.#stale.clear();
    this.#around.forget();
  }

  /** Ends every fault. */
  clear(): void {
    this.#rules.clear();
    this.#frozen.clear();
    this.#held.clear();
    this.#stale.clear();
    this.#letGo();
  }

  // What follows is for the API itself.

  /** Returns when the call may reach the server; fails when it never does. */
  async admit(call: Call, options: RequestOptions): Promise<void> {
    options.signal?.throwIfAborted();
    let left = options.deadline ?? defaultDeadlineMs;
    const delay = this.#take(call, "delay");
    if (delay?.t === "delay") {
      await this.#wait(options.signal, Math.min(left, delay.ms), () => false);
      left -= delay.ms;
    }
    // Counted, not measured, so that it holds for every clock that a test may bring.
    while (left > 0 && this.#isFrozen(call)) {
      if ((await this.#wait(options.signal, left, () => !this.#isFrozen(call))) === "time") left = 0;
    }
    if (left <= 0) throw new TransportError("deadline", "no answer came in time");
    const failure = this.#take(call, "before");
    if (failure?.t === "fail") throw failure.error();
  }

  /** After the server has carried it out; fails when the caller shall not learn that. */
  answered(call: Call): void {
    const failure = this.#take(call, "after");
    if (failure?.t === "fail") throw failure.error();
  }

  holds(call: Call): boolean {
    return this.#isFrozen(call) || [...this.#held].some((match) => matchesCall(match, call));
  }

  /** The revision that a read shows. */
  revisionFor(call: Call): number {
    for (const [match, revision] of this.#stale) if (matchesCall(match, call)) return revision;
    return this.#around.revision();
  }

  #add(match: Match, effect: Effect, left: number): End {
    const rule = { match, effect, left };
    this.#rules.add(rule);
    return () => this.#rules.delete(rule);
  }

  #take(call: Call, wanted: "delay" | "before" | "after"): Effect | undefined {
    for (const rule of this.#rules) {
      const is = rule.effect.t === "fail" ? rule.effect.when : "delay";
      if (is !== wanted || !matchesCall(rule.match, call)) continue;
      rule.left -= 1;
      if (rule.left <= 0) this.#rules.delete(rule);
      return rule.effect;
    }
    return undefined;
  }

  #isFrozen(call: Call): boolean {
    return [...this.#frozen].some((match) => matchesCall(match, call));
  }

  /** Waits for a time, or until something was let go and `enough` says so. An abort fails with its reason. */
  #wait(signal: AbortSignal | undefined, ms: number, enough: () => boolean): Promise<"time" | "letGo"> {
    const { promise, resolve, reject } = Promise.withResolvers<"time" | "letGo">();
    const finish = (): void => {
      cancel();
      this.#waiting.delete(check);
      signal?.removeEventListener("abort", abort);
    };
    const check = (): void => {
      if (!enough()) return;
      finish();
      resolve("letGo");
    };
    const abort = (): void => {
      finish();
      reject(signal?.reason);
    };
    const cancel = this.#around.clock.after(ms, () => {
      finish();
      resolve("time");
    });
    this.#waiting.add(check);
    signal?.addEventListener("abort", abort);
    return promise;
  }

  #letGo(): void {
    for (const check of this.#waiting) check();
    for (const watch of this.#around.watches()) watch.wake();
  }
}

const defaultDeadlineMs = 30_000;
