// One watch on the in-memory API server: it follows the store's history from a revision, shows only what a selection
// holds, and ends as the server, a fault or the caller says.
import type { Clock } from "../../clock.ts";
import type { Call } from "./calls.ts";
import type { JsonObject } from "./json.ts";
import { expired } from "./refusals.ts";
import type { Resource } from "./resources.ts";
import type { Matches } from "./listing.ts";
import { atRevision, type Change, type Storage } from "./storage.ts";

// As the real server: a bookmark each minute, and one shortly before a watch ends by its own time.
const bookmarkMs = 60_000;

type StreamEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: JsonObject }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

interface WatchRequest {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly resource: Resource;
  /** The call that opened it, which faults match. */
  readonly call: Call;
  readonly matches: Matches;
  /** Undefined: first everything that is there now, as new. */
  readonly from: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly onEvent: (event: StreamEvent) => void;
  /** Asked before anything is sent; a held watch is pumped again when it is let go. */
  readonly isHeld: () => boolean;
}

export class WatchStream {
  readonly resource: Resource;
  readonly call: Call;
  readonly ended: Promise<void>;
  readonly #request: WatchRequest;
  readonly #settle: { resolve: () => void; reject: (error: unknown) => void };
  readonly #timers = new Set<() => void>();
  #cursor: number;
  #ended = false;
  #scheduled = false;
  /** What to say when everything before it has been sent. */
  #due: "nothing" | "bookmark" | "end" = "nothing";
  #presentIsDue: boolean;

  constructor(request: WatchRequest) {
    this.#request = request;
    this.resource = request.resource;
    this.call = request.call;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#settle = { resolve, reject };
    this.#cursor = request.from ?? request.storage.revision;
    this.#presentIsDue = request.from === undefined;
    this.#remind(bookmarkMs);
    if (request.timeoutMs !== undefined) this.#once(request.timeoutMs, () => this.#say("end"));
  }

  /** Delivers soon, never from within the write that caused it. */
  wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    if (error === undefined) this.#settle.resolve();
    else this.#settle.reject(error);
  }

  #pump(): void {
    try {
      if (this.#mayTell() && this.#presentIsDue) this.#tellPresent();
      if (this.#mayTell()) this.#tellChanges();
      if (this.#mayTell() && this.#due !== "nothing") this.#tellDue();
    } catch (error) {
      this.end(error);
    }
  }

  #mayTell(): boolean {
    return !this.#ended && !this.#request.isHeld();
  }

  #tellPresent(): void {
    const { storage, resource, matches, onEvent } = this.#request;
    this.#presentIsDue = false;
    this.#cursor = storage.revision;
    for (const [, object] of storage.entriesAt(resource.table, this.#cursor)) {
      if (matches(object)) onEvent({ type: "ADDED", object: object });
    }
  }

  #tellChanges(): void {
    const { storage, resource } = this.#request;
    if (!storage.remembers(resource.table, this.#cursor)) {
      this.end(expired(`too old resource version: ${this.#cursor} (${storage.revision})`));
      return;
    }
    for (const change of storage.changesAfter(resource.table, this.#cursor)) {
      this.#cursor = change.revision;
      this.#tell(change);
      if (!this.#mayTell()) return;
    }
  }

  /** An object that comes into or out of the selection is reported as new or as deleted. */
  #tell(change: Change): void {
    const { matches, onEvent } = this.#request;
    const was = change.previous !== undefined && matches(change.previous);
    const is = change.type !== "DELETED" && matches(change.object);
    if (is) onEvent({ type: was ? "MODIFIED" : "ADDED", object: change.object });
    else if (was) onEvent({ type: "DELETED", object: this.#lastSeen(change, change.previous) });
  }

  #lastSeen(change: Change, previous: JsonObject): JsonObject {
    return change.type === "DELETED" ? change.object : atRevision(previous, change.revision);
  }

  #say(due: "bookmark" | "end"): void {
    if (this.#due !== "end") this.#due = due;
    this.#pump();
  }

  #tellDue(): void {
    const { storage, onEvent } = this.#request;
    const due = this.#due;
    this.#due = "nothing";
    // A watch from the future has nothing to say until the present has caught up.
    if (this.#cursor <= storage.revision) {
      this.#cursor = storage.revision;
      onEvent({ type: "BOOKMARK", resourceVersion: String(this.#cursor) });
    }
    if (due === "end") this.end();
  }

  #once(ms: number, run: () => void): void {
    const cancel = this.#request.clock.after(ms, () => {
      this.#timers.delete(cancel);
      run();
    });
    this.#timers.add(cancel);
  }

  #remind(ms: number): void {
    this.#once(ms, () => {
      this.#remind(ms);
      this.#say("bookmark");
    });
  }
}
