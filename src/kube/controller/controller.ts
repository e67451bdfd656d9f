// The loop around reconcile: keys from sources go through a queue to workers, and what a reconcile returns decides when
// its key is requeued. None starts before the caches show what the last one of the same key wrote.
import { follow, whenAborted } from "../abort.ts";
import type { KubeApi } from "../client/api.ts";
import { systemClock, type Backoff, type Cancel, type Clock } from "../clock.ts";
import type { Cache } from "../cache/informer.ts";
import { ApiError } from "../client/errors.ts";
import { fenced, openFence, type Fence } from "../leader/fence.ts";
import { higher, type Priority } from "./lanes.ts";
import { runReconcile, type CutShort, type Next, type Reconcile } from "./run-reconcile.ts";
import { isSeen, type OwnWrite, waitUntilSeen } from "./own-writes.ts";
import { WorkQueue, type QueueEvent, type Task } from "./queue.ts";
import type { Source } from "./source.ts";

export type ControllerEvent =
  | { readonly type: "queue"; readonly event: QueueEvent }
  | { readonly type: "reconcileStarted"; readonly key: string; readonly id: string; readonly waitedMs: number }
  | {
      readonly type: "reconcileEnded";
      readonly key: string;
      readonly id: string;
      readonly next: Next;
      readonly tookMs: number;
      readonly writes: number;
      /** It was aborted: what it returned says little. */
      readonly cutShort: CutShort | undefined;
    }
  /** It was aborted at its deadline; its worker is busy until it returns. */
  | { readonly type: "reconcileOverdue"; readonly key: string; readonly id: string }
  | { readonly type: "cachesCaughtUp"; readonly key: string; readonly waitedMs: number }
  /** The caches did not show these in time; the key goes on without. */
  | {
      readonly type: "cachesLag";
      readonly key: string;
      readonly waitedMs: number;
      readonly missing: readonly OwnWrite[];
    }
  /** It leads no more: another process manages its keys. */
  | { readonly type: "stopped" };

export interface ControllerOptions {
  name: string;
  sources: readonly Source[];
  reconcile: Reconcile;
  workers?: number;
  /** For one reconcile. */
  deadlineMs?: number;
  backoff?: Backoff;
  /** Every key is reconciled once in this time even without an event. */
  resyncMs?: number;
  /** How long the caches may take to show a write. */
  catchUpMs?: number;
  clock?: Clock;
  random?: () => number;
  /** For metrics and logs; must not throw. */
  observe?: (event: ControllerEvent) => void;
}

// A healthy watch gets a bookmark each minute. A write that it does not show by then will not show by waiting.
const defaultCatchUpMs = 90_000;

/** One for the life of a process; each `run` is one term as leader, with a queue of its own. */
export class Controller {
  readonly name: string;
  readonly #options: ControllerOptions;
  #term: Term | undefined;

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get runs(): boolean {
    return this.#term !== undefined;
  }

  /**
   * Runs until the signal aborts, and writes only while the fence holds; then aborts every reconcile and resolves when
   * the last one has returned.
   */
  async run(api: KubeApi, signal: AbortSignal, fence: Fence = openFence): Promise<void> {
    if (this.#term !== undefined) throw new Error(`The controller ${this.name} runs already`);
    this.#term = new Term(this.#options, fenced(api, fence), signal, fence);
    try {
      await this.#term.run();
    } finally {
      this.#term = undefined;
      this.#options.observe?.({ type: "stopped" });
    }
  }

  /** For news that no watch brings. Without effect while the controller does not run: at the start it sees all. */
  enqueue(key: string, priority: Priority = "normal"): void {
    this.#term?.queue.add(key, priority);
  }

  /** Takes no new keys and resolves when the running reconciles have returned. */
  async drain(): Promise<void> {
    await this.#term?.queue.stop();
  }
}

/** A key whose writes the caches do not show yet, and whether it was asked for in the meantime. */
interface Barrier {
  wanted: Priority | undefined;
}

class Term {
  readonly queue: WorkQueue;
  readonly #options: ControllerOptions;
  readonly #api: KubeApi;
  readonly #stop: AbortSignal;
  readonly #fence: Fence;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #observe: (event: ControllerEvent) => void;
  readonly #caches: readonly Cache[];
  readonly #barriers = new Map<string, Barrier>();
  readonly #idPrefix: string;
  #reconciles = 0;
  #cancelResync: Cancel = () => undefined;

  constructor(options: ControllerOptions, api: KubeApi, stop: AbortSignal, fence: Fence) {
    const { sources, workers = 1, backoff, clock = systemClock, random = Math.random } = options;
    const observe = options.observe ?? (() => undefined);
    this.#options = options;
    this.#api = api;
    this.#stop = stop;
    this.#fence = fence;
    this.#clock = clock;
    this.#random = random;
    this.#observe = observe;
    this.#caches = [...new Set(sources.map((source) => source.cache).filter((cache) => cache !== undefined))];
    this.#idPrefix = Math.floor(random() * 36 ** 5).toString(36);
    this.queue = new WorkQueue({
      work: (task) => this.#work(task),
      workers,
      clock,
      random,
      observe: (event) => observe({ type: "queue", event }),
      ...(backoff === undefined ? {} : { backoff }),
    });
  }

  async run(): Promise<void> {
    const { sources } = this.#options;
    const unsubscribe = sources.map((source) => source.subscribe((key, priority) => this.queue.add(key, priority)));
    try {
      if (await this.#synced()) {
        this.#armResync();
        this.queue.start();
        await whenAborted(this.#stop);
      }
    } finally {
      for (const stop of unsubscribe) stop();
      this.#cancelResync();
      await this.queue.stop();
    }
  }

  /** False when the stop came first. */
  async #synced(): Promise<boolean> {
    try {
      await Promise.all(this.#options.sources.map((source) => source.whenSynced(this.#stop)));
    } catch (error) {
      if (!this.#stop.aborted) throw error;
    }
    return !this.#stop.aborted;
  }

  async #work({ key, priority, waitedMs }: Task): Promise<void> {
    const barrier = this.#barriers.get(key);
    if (barrier !== undefined) {
      barrier.wanted = barrier.wanted === undefined ? priority : higher(barrier.wanted, priority);
      return;
    }
    const { name: controller, reconcile, deadlineMs = 60_000 } = this.#options;
    this.#reconciles += 1;
    const id = `${this.#idPrefix}-${this.#reconciles}`;
    const started = this.#clock.now();
    const onOverdue = (): void => this.#observe({ type: "reconcileOverdue", key, id });
    this.#observe({ type: "reconcileStarted", key, id, waitedMs });
    const { next, cutShort, writes } = await runReconcile(
      { id, controller, key, api: this.#api, clock: this.#clock, fence: this.#fence, deadlineMs, reconcile, onOverdue },
      this.#stop,
    );
    const tookMs = this.#clock.now() - started;
    this.#observe({ type: "reconcileEnded", key, id, next, tookMs, writes: writes.length, cutShort });
    this.#raiseBarrier(key, writes);
    this.#schedule(key, priority, next);
  }

  #schedule(key: string, priority: Priority, next: Next): void {
    if (next.next !== "failed") this.queue.forget(key);
    switch (next.next) {
      case "again":
        // What made it urgent has been handled. Else keys that wait for something would stay ahead of new user edits.
        this.queue.addAfter(key, next.afterMs, priority === "high" ? "normal" : priority);
        return;
      case "failed":
        this.queue.retry(key, priority, askedToWait(next.error));
        return;
      case "done":
    }
  }

  #raiseBarrier(key: string, writes: readonly OwnWrite[]): void {
    if (this.#stop.aborted || writes.every((write) => isSeen(write, this.#caches))) return;
    const barrier: Barrier = { wanted: undefined };
    this.#barriers.set(key, barrier);
    void this.#waitUntilSeen(key, writes).then(() => {
      this.#barriers.delete(key);
      if (barrier.wanted !== undefined) this.queue.add(key, barrier.wanted);
    });
  }

  async #waitUntilSeen(key: string, writes: readonly OwnWrite[]): Promise<void> {
    const started = this.#clock.now();
    const patience = follow(this.#stop);
    const cancel = this.#clock.after(this.#options.catchUpMs ?? defaultCatchUpMs, () =>
      patience.abort(new Error("The caches did not catch up in time")),
    );
    const catchUp = { api: this.#api, caches: this.#caches, clock: this.#clock };
    const missing = await waitUntilSeen(writes, catchUp, patience.signal);
    cancel();
    patience.release();
    if (this.#stop.aborted) return;
    const waitedMs = this.#clock.now() - started;
    if (missing.length === 0) this.#observe({ type: "cachesCaughtUp", key, waitedMs });
    else this.#observe({ type: "cachesLag", key, waitedMs, missing });
  }

  /** Spread over the whole time, so that a thousand objects are a steady trickle and not a wave. */
  #armResync(): void {
    const { resyncMs = 600_000, sources } = this.#options;
    this.#cancelResync = this.#clock.after(resyncMs, () => {
      this.#armResync();
      const keys = new Set(sources.flatMap((source) => [...source.keys()]));
      for (const key of keys) this.queue.addAfter(key, this.#random() * resyncMs, "low");
    });
  }
}

function askedToWait(error: unknown): number {
  return error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
}
