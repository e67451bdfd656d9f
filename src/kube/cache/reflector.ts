// Keeps a sink equal to one kind on the server: lists in pages, watches from there, resumes after every break, and
// lists again only when that version has expired. It stops only when its signal aborts.
import type { KubeApi, Selection, WatchEvent } from "../client/api.ts";
import { backoffDelay, pause, type Backoff, type Clock } from "../clock.ts";
import { ApiError, isExpired, isForbidden, isTooLarge } from "../client/errors.ts";
import { isOlder, type Kind, type KubeObject } from "../objects/objects.ts";

/** What a reflector feeds. Its calls must not throw. */
export interface Sink<T extends KubeObject> {
  /** Called for each listed object as its page arrives, so that a whole list is never held in full size. */
  admit(object: T): T;
  /** These, already admitted, are all objects as of that version. */
  replace(objects: readonly T[], resourceVersion: string): void;
  put(object: T): void;
  remove(object: T): void;
  /** Everything up to this version has been delivered. */
  advance(resourceVersion: string): void;
}

export type ReflectorEvent =
  | { readonly type: "listed"; readonly objects: number; readonly pages: number; readonly tookMs: number }
  /** The server answered with an older state than it had shown before; the list was dropped. */
  | { readonly type: "olderListRefused"; readonly seen: string; readonly offered: string | undefined }
  /** It did so for so long that the older state must be the current one, as after a restored backup. */
  | { readonly type: "olderListBelieved"; readonly seen: string; readonly offered: string }
  | { readonly type: "watching"; readonly resourceVersion: string }
  | { readonly type: "watchEnded"; readonly because: WatchEnd; readonly events: number; readonly livedMs: number }
  | { readonly type: "failed"; readonly doing: "list" | "watch"; readonly error: unknown; readonly retryInMs: number };

type WatchEnd = "closed" | "expired" | "error";

interface ReflectorOptions<T extends KubeObject> {
  api: KubeApi;
  kind: Kind<T>;
  selection: Selection;
  sink: Sink<T>;
  clock: Clock;
  /** In [0, 1), as Math.random. */
  random: () => number;
  pageSize: number;
  /** A kind that the program can do without: while it is forbidden the server is seldom asked. */
  optional: boolean;
  observe: (event: ReflectorEvent) => void;
}

// However long a server was away, caches are behind for no more than this after it came back.
const backoff: Backoff = { firstMs: 200, maxMs: 5_000, jitter: 0.5 };
// Somebody may grant a permission at any time; until then a request every minute or two is all that it may cost.
const forbiddenBackoff: Backoff = { firstMs: 200, maxMs: 120_000, jitter: 0.5 };
// A watch that lived this long ends a series of failures. One that brought news does as well, since it can be resumed;
// but not if its version has expired, because a list costs too much to be repeated for each piece of news.
const healthyMs = 10_000;
// No API server lags for this long: its data was restored from a backup.
const believePastAfterMs = 120_000;

export async function reflect<T extends KubeObject>(options: ReflectorOptions<T>, signal: AbortSignal): Promise<void> {
  await new Reflector(options, signal).run();
}

class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #signal: AbortSignal;
  /** The last version delivered to the sink; empty before the first list. */
  #seen = "";
  #needsList = true;
  #failures = 0;
  /** A page token expired while it was used: the next list is taken whole, which cannot expire half-way. */
  #listWhole = false;
  /** Smaller than asked for, when the objects are so large that a whole page of them is not taken. */
  #pageSize: number;
  #pastSince: number | undefined;

  constructor(options: ReflectorOptions<T>, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#pageSize = options.pageSize;
  }

  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      const waitMs = this.#needsList ? await this.#list() : await this.#watch();
      if (waitMs > 0) await pause(this.#options.clock, waitMs, this.#signal);
    }
  }

  /** Returns how long to wait before the next step. */
  async #list(): Promise<number> {
    const { clock, sink, observe } = this.#options;
    const started = clock.now();
    const believePast = this.#pastSince !== undefined && started - this.#pastSince >= believePastAfterMs;
    try {
      const { objects, resourceVersion, pages } = await this.#allPages(believePast ? "" : this.#seen);
      if (this.#signal.aborted) return 0;
      if (this.#seen !== "" && isOlder(resourceVersion, this.#seen)) {
        if (!believePast) return this.#refusePast(resourceVersion);
        observe({ type: "olderListBelieved", seen: this.#seen, offered: resourceVersion });
      }
      this.#seen = resourceVersion;
      this.#needsList = false;
      this.#listWhole = false;
      this.#pageSize = this.#options.pageSize;
      this.#pastSince = undefined;
      sink.replace(objects, resourceVersion);
      observe({ type: "listed", objects: objects.length, pages, tookMs: clock.now() - started });
      return 0;
    } catch (error) {
      if (this.#signal.aborted) return 0;
      if (isAheadOfServer(error)) return this.#refusePast(undefined);
      // Only an unbroken series of old lists counts: what an unreachable server would have shown is not known.
      this.#pastSince = undefined;
      if (isExpired(error)) this.#listWhole = true;
      if (isTooLarge(error)) this.#listLess();
      return this.#failed("list", error);
    }
  }

  async #allPages(notOlderThan: string): Promise<{ objects: T[]; resourceVersion: string; pages: number }> {
    const { api, kind, selection, sink } = this.#options;
    const base = { ...selection, signal: this.#signal, ...(this.#listWhole ? {} : { limit: this.#pageSize }) };
    // Without a version the server answers from the latest state; with one it may answer from its cache.
    const first =
      notOlderThan === "" ? {} : { resourceVersion: notOlderThan, resourceVersionMatch: "NotOlderThan" as const };
    const objects: T[] = [];
    let page = await api.list(kind, { ...base, ...first });
    let pages = 1;
    for (;;) {
      for (const object of page.items) objects.push(sink.admit(object));
      if (page.continue === undefined || page.continue === "") break;
      page = await api.list(kind, { ...base, continue: page.continue });
      pages += 1;
    }
    return { objects, resourceVersion: page.resourceVersion, pages };
  }

  async #watch(): Promise<number> {
    const { api, kind, selection, clock, random, observe } = this.#options;
    const started = clock.now();
    // Spread, so that the watches of many kinds and processes do not all end together.
    const timeoutSeconds = 240 + Math.floor(random() * 241);
    let events = 0;
    const end = (because: WatchEnd): number => {
      const livedMs = clock.now() - started;
      if (livedMs >= healthyMs || (events > 0 && because !== "expired")) this.#failures = 0;
      observe({ type: "watchEnded", because, events, livedMs });
      return livedMs;
    };
    observe({ type: "watching", resourceVersion: this.#seen });
    try {
      const from = { ...selection, resourceVersion: this.#seen, timeoutSeconds, signal: this.#signal };
      await api.watch(kind, from, (event) => {
        if (this.#signal.aborted) return;
        events += 1;
        this.#take(event);
      });
    } catch (error) {
      if (this.#signal.aborted) return 0;
      const expired = isExpired(error);
      const livedMs = end(expired ? "expired" : "error");
      // An event that is too large would be sent again by the next watch; a list goes past it.
      if (expired || isTooLarge(error)) this.#needsList = true;
      // A version that expires after a long watch is normal; one that expires right after a list would be a busy loop.
      return expired && livedMs >= healthyMs ? 0 : this.#failed("watch", error);
    }
    if (this.#signal.aborted) return 0;
    const livedMs = end("closed");
    // Bookmarks come each minute and before the end. Nothing at all means that the server waits for a version that
    // it does not have, as one does that was restored from a backup; such a watch would stay silent forever.
    if (events === 0 && livedMs >= timeoutSeconds * 500) this.#needsList = true;
    return livedMs >= healthyMs ? 0 : this.#nextDelay();
  }

  #take(event: WatchEvent<T>): void {
    const { sink } = this.#options;
    if (event.type === "BOOKMARK") {
      this.#advance(event.resourceVersion);
      sink.advance(this.#seen);
      return;
    }
    this.#advance(event.object.metadata?.resourceVersion ?? "");
    if (event.type === "DELETED") sink.remove(event.object);
    else sink.put(event.object);
    sink.advance(this.#seen);
  }

  /** Never backwards, or the next watch would deliver the same events again and the next list could lose some. */
  #advance(version: string): void {
    if (version !== "" && !isOlder(version, this.#seen)) this.#seen = version;
  }

  #listLess(): void {
    this.#listWhole = false;
    this.#pageSize = Math.max(1, Math.floor(this.#pageSize / 2));
  }

  #refusePast(offered: string | undefined): number {
    this.#pastSince ??= this.#options.clock.now();
    this.#options.observe({ type: "olderListRefused", seen: this.#seen, offered });
    return this.#nextDelay();
  }

  #failed(doing: "list" | "watch", error: unknown): number {
    const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
    const forbidden = this.#options.optional && isForbidden(error);
    const retryInMs = Math.max(asked, this.#nextDelay(forbidden ? forbiddenBackoff : backoff));
    this.#options.observe({ type: "failed", doing, error, retryInMs });
    return retryInMs;
  }

  #nextDelay(by: Backoff = backoff): number {
    this.#failures += 1;
    return backoffDelay(by, this.#failures, this.#options.random());
  }
}

/** The server does not have the version that was asked for, even after it waited for it. */
function isAheadOfServer(error: unknown): boolean {
  return error instanceof ApiError && error.causes.some((cause) => cause.reason === "ResourceVersionTooLarge");
}
