// The work queue: keys only, each at most once in it and at most once in work. It says when a key runs and knows
// nothing of why; a key that is added while it runs, runs again afterwards.
import { backoffDelay, systemClock, type Backoff, type Cancel, type Clock } from "../clock.ts";
import { Delays } from "./delays.ts";
import { Lanes, higher, type Priority } from "./lanes.ts";

export type QueueEvent =
  | { readonly type: "added"; readonly key: string; readonly priority: Priority; readonly depth: number }
  /** `waitedMs`: since the key became ready. */
  | { readonly type: "started"; readonly key: string; readonly waitedMs: number; readonly depth: number }
  | { readonly type: "finished"; readonly key: string; readonly tookMs: number; readonly depth: number }
  | { readonly type: "retrying"; readonly key: string; readonly failures: number; readonly delayMs: number }
  | { readonly type: "stopped"; readonly depth: 0 }
  /** `work` itself rejected, which it should not; the key is retried. */
  | { readonly type: "threw"; readonly key: string; readonly error: unknown };

export interface Task {
  readonly key: string;
  readonly priority: Priority;
  /** How long the key had been ready. */
  readonly waitedMs: number;
}

export interface QueueOptions {
  /** Does the work of one key. When it settles, the key may run again. */
  work: (task: Task) => Promise<void>;
  workers?: number;
  backoff?: Backoff;
  clock?: Clock;
  random?: () => number;
  /** For metrics; must not throw. */
  observe?: (event: QueueEvent) => void;
}

const defaultBackoff: Backoff = { firstMs: 5, maxMs: 60_000, jitter: 0.1 };

type State = "idle" | "started" | "stopped";

/** When and how urgently a key is to run. */
interface Due {
  priority: Priority;
  /** When the key became ready, or is due. */
  at: number;
}

export class WorkQueue {
  readonly #work: (task: Task) => Promise<void>;
  readonly #workers: number;
  readonly #backoff: Backoff;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #observe: (event: QueueEvent) => void;

  readonly #ready = new Lanes();
  readonly #readySince = new Map<string, number>();
  readonly #delayed = new Delays();
  readonly #delayedPriority = new Map<string, Priority>();
  /** Keys in work, each with what was asked for it meanwhile. */
  readonly #running = new Map<string, Due | undefined>();
  readonly #failures = new Map<string, number>();
  #alarm: { at: number; cancel: Cancel } | undefined;
  #state: State = "idle";
  #onDrained: (() => void)[] = [];

  constructor(options: QueueOptions) {
    this.#work = options.work;
    this.#workers = options.workers ?? 1;
    this.#backoff = options.backoff ?? defaultBackoff;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#observe = options.observe ?? (() => undefined);
  }

  /** Keys that are ready and wait for a worker. */
  get depth(): number {
    return this.#ready.size;
  }

  get running(): number {
    return this.#running.size;
  }

  get delayed(): number {
    return this.#delayed.size;
  }

  /** Keys may be added before; none runs before this. */
  start(): void {
    if (this.#state === "idle") this.#state = "started";
    this.#pump();
  }

  /** Lets the key run as soon as a worker is free. A delay that it waits for is over with this. */
  add(key: string, priority: Priority = "normal"): void {
    this.addAfter(key, 0, priority);
  }

  /** Lets the key run after `ms`, unless it is ready or due earlier already. */
  addAfter(key: string, ms: number, priority: Priority = "normal"): void {
    if (this.#state === "stopped") return;
    const now = this.#clock.now();
    const at = now + Math.max(0, ms);
    if (this.#running.has(key)) {
      this.#running.set(key, earlier(this.#running.get(key), { priority, at }));
      return;
    }
    if (this.#place(key, { priority, at }, now)) this.#pump();
  }

  /** After a failure: lets the key run again, each time later, and not before `atLeastMs`. */
  retry(key: string, priority: Priority = "normal", atLeastMs = 0): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const delayMs = Math.max(atLeastMs, backoffDelay(this.#backoff, failures, this.#random()));
    this.#observe({ type: "retrying", key, failures, delayMs });
    this.addAfter(key, delayMs, priority);
  }

  /** After a success: the next failure of the key is its first. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Starts no more keys, drops all that wait, and resolves when those in work have ended. */
  stop(): Promise<void> {
    this.#state = "stopped";
    this.#ready.clear();
    this.#readySince.clear();
    this.#delayed.clear();
    this.#delayedPriority.clear();
    this.#failures.clear();
    this.#setAlarm(undefined);
    this.#observe({ type: "stopped", depth: 0 });
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  /** True when the key has become ready by this. */
  #place(key: string, due: Due, now: number): boolean {
    if (this.#ready.laneOf(key) !== undefined) {
      // A request for later is met by the run that comes now, and does not change how urgent that one is.
      if (due.at <= now) this.#ready.push(key, due.priority);
      return false;
    }
    const delayed = this.#delayedPriority.get(key);
    const priority = delayed === undefined ? due.priority : higher(delayed, due.priority);
    if (due.at <= now) {
      this.#delayed.delete(key);
      this.#delayedPriority.delete(key);
      this.#makeReady(key, priority, now);
      return true;
    }
    this.#delayed.set(key, due.at);
    this.#delayedPriority.set(key, priority);
    this.#setAlarm(this.#delayed.earliest());
    return false;
  }

  #makeReady(key: string, priority: Priority, since: number): void {
    this.#ready.push(key, priority);
    this.#readySince.set(key, since);
    this.#observe({ type: "added", key, priority, depth: this.depth });
  }

  #pump(): void {
    while (this.#state === "started" && this.#running.size < this.#workers) {
      const next = this.#ready.pop();
      if (next === undefined) return;
      this.#run(next.key, next.priority);
    }
  }

  #run(key: string, priority: Priority): void {
    const started = this.#clock.now();
    const waitedMs = started - (this.#readySince.get(key) ?? started);
    this.#readySince.delete(key);
    this.#running.set(key, undefined);
    this.#observe({ type: "started", key, waitedMs, depth: this.depth });
    // By way of a promise, so that work which throws at once is treated like work that rejects.
    void Promise.resolve({ key, priority, waitedMs })
      .then(this.#work)
      .catch((error: unknown) => {
        this.#observe({ type: "threw", key, error });
        this.retry(key, priority);
      })
      .then(() => this.#finished(key, started));
  }

  #finished(key: string, started: number): void {
    const now = this.#clock.now();
    const again = this.#running.get(key);
    this.#running.delete(key);
    this.#observe({ type: "finished", key, tookMs: now - started, depth: this.depth });
    if (this.#state === "stopped") {
      if (this.#running.size === 0) for (const resolve of this.#onDrained.splice(0)) resolve();
      return;
    }
    if (again !== undefined) this.#place(key, again, now);
    this.#pump();
  }

  #wake(): void {
    const now = this.#clock.now();
    for (let key = this.#delayed.takeDue(now); key !== undefined; key = this.#delayed.takeDue(now)) {
      const priority = this.#delayedPriority.get(key) ?? "normal";
      this.#delayedPriority.delete(key);
      this.#makeReady(key, priority, now);
    }
    this.#setAlarm(this.#delayed.earliest());
    this.#pump();
  }

  /** One timer serves all delayed keys. It may ring early or in vain; waking then only sets it again. */
  #setAlarm(at: number | undefined): void {
    if (at !== undefined && this.#alarm !== undefined && this.#alarm.at <= at) return;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    if (at === undefined) return;
    const cancel = this.#clock.after(at - this.#clock.now(), () => {
      this.#alarm = undefined;
      this.#wake();
    });
    this.#alarm = { at, cancel };
  }
}

/** Both requests in one: at the earlier time, with the higher priority. */
function earlier(a: Due | undefined, b: Due): Due {
  return a === undefined ? b : { priority: higher(a.priority, b.priority), at: Math.min(a.at, b.at) };
}
