// Records Events about objects. Recording never waits, never fails and never grows: the same
// thing again only counts up a series, a noisy object is cut off, and what cannot be sent is dropped and counted.
import type { KubeApi } from "../client/api.ts";
import { pause, systemClock, type Cancel, type Clock } from "../clock.ts";
import { isNotFound } from "../client/errors.ts";
import { eventObject, regarding, seriesObject, type NewEvent, type Reporter } from "./event-object.ts";
import { Event } from "./kinds.ts";
import type { Key, Kind, KubeObject } from "./objects.ts";

export type EventOutcome =
  | { readonly type: "sent" }
  | { readonly type: "dropped"; readonly because: "rate" | "backlog" }
  | { readonly type: "failed"; readonly error: unknown };

/** How often a series may be sent to the server. */
const seriesEveryMs = 60_000;

interface EventRecorderOptions {
  api: KubeApi;
  reporter: Reporter;
  /** For metrics; must not throw. */
  observe?: (outcome: EventOutcome) => void;
  clock?: Clock;
}

// As many events of a type as an object may have at once, and how often one more. To replace a member takes four, and
// the server keeps each for an hour: a cluster that is busy all the time has some four hundred there at most.
const burst = 50;
const oneMoreEveryMs = 10_000;
// What has not happened for so long starts a new series when it happens again.
const seriesEndsAfterMs = 360_000;
const mostSeries = 1000;
const mostUnsent = 256;
const requestDeadlineMs = 10_000;

/** The same thing, happening to the same object, once or many times. */
interface Occurrences {
  readonly about: ReturnType<typeof regarding>;
  readonly what: NewEvent;
  readonly first: Date;
  count: number;
  lastObserved: Date;
  /** By the monotonic clock. */
  lastAt: number;
  /** How many of them were sent to the server, in which object, and when. */
  sent: number;
  object: Key | undefined;
  sentAt: number;
}

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #series = new BoundedMap<string, Occurrences>(mostSeries);
  readonly #buckets = new BoundedMap<string, TokenBucket>(mostSeries);
  readonly #unsent = new Set<Occurrences>();
  #sending: Promise<void> | undefined;
  #alarm: Cancel | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  record<T extends KubeObject>(kind: Kind<T>, object: T, what: NewEvent): void {
    const about = regarding(kind, object);
    const subject = about.uid ?? JSON.stringify([about.kind, about.namespace, about.name]);
    const id = JSON.stringify([subject, what.type, what.reason, what.action, what.note]);
    const now = this.#clock.now();
    const known = this.#series.get(id);
    if (known !== undefined && now - known.lastAt < seriesEndsAfterMs) {
      known.count += 1;
      known.lastAt = now;
      known.lastObserved = new Date();
      this.#armAlarm();
      return;
    }
    // A bucket for each type: many normal events must not keep a warning from being sent.
    if (!this.#bucketOf(`${what.type} ${subject}`).take(now))
      return this.#observe({ type: "dropped", because: "rate" });
    if (this.#unsent.size >= mostUnsent) return this.#observe({ type: "dropped", because: "backlog" });
    const first = new Date();
    const news: Occurrences = {
      about,
      what,
      first,
      count: 1,
      lastObserved: first,
      lastAt: now,
      sent: 0,
      object: undefined,
      sentAt: now,
    };
    this.#series.set(id, news);
    this.#send(news);
  }

  /** Sends what is left, for at most so long. The recorder can still be used, as far as anybody wants to. */
  async flush(withinMs: number): Promise<void> {
    this.#alarm?.();
    this.#alarm = undefined;
    for (const occurrences of this.#series.values()) if (occurrences.sent < occurrences.count) this.#send(occurrences);
    if (this.#sending === undefined) return;
    const done = new AbortController();
    await Promise.race([this.#sending, pause(this.#clock, withinMs, done.signal)]);
    done.abort();
  }

  #bucketOf(source: string): TokenBucket {
    let bucket = this.#buckets.get(source);
    if (bucket === undefined) {
      bucket = new TokenBucket(burst, oneMoreEveryMs, this.#clock.now());
      this.#buckets.set(source, bucket);
    }
    return bucket;
  }

  /** One timer sends all series that are due. */
  #armAlarm(): void {
    this.#alarm ??= this.#clock.after(seriesEveryMs / 4, () => {
      this.#alarm = undefined;
      const now = this.#clock.now();
      let waiting = false;
      for (const occurrences of this.#series.values()) {
        if (occurrences.sent === occurrences.count) continue;
        if (now - occurrences.sentAt >= seriesEveryMs) this.#send(occurrences);
        else waiting = true;
      }
      if (waiting) this.#armAlarm();
    });
  }

  #send(occurrences: Occurrences): void {
    this.#unsent.add(occurrences);
    this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    // By way of a promise, so that recording never runs the code of a client.
    await Promise.resolve();
    for (const occurrences of this.#unsent) {
      this.#unsent.delete(occurrences);
      const { count } = occurrences;
      // Whether it works or not, the next attempt is a whole period away.
      occurrences.sentAt = this.#clock.now();
      occurrences.sent = count;
      try {
        await this.#sendOne(occurrences);
        this.#observe({ type: "sent" });
      } catch (error) {
        this.#observe({ type: "failed", error });
      }
    }
    this.#sending = undefined;
  }

  async #sendOne(occurrences: Occurrences): Promise<void> {
    const { api, reporter } = this.#options;
    const { about, what, first, object } = occurrences;
    const request = { deadline: requestDeadlineMs };
    if (object !== undefined) {
      try {
        await api.mergePatch(Event, object, { series: seriesObject(occurrences) }, request);
        return;
      } catch (error) {
        // The server forgets events after an hour.
        if (!isNotFound(error)) throw error;
      }
    }
    const event = eventObject(about, what, reporter, first, occurrences);
    const { namespace = "", name = "" } = event.metadata ?? {};
    await api.create(Event, event, request);
    occurrences.object = { namespace, name };
  }

  #observe(outcome: EventOutcome): void {
    this.#options.observe?.(outcome);
  }
}

/** A map that never holds more than a fixed number of entries: the one that was used least recently makes room. */
class BoundedMap<K, V> {
  readonly #limit: number;
  // A Map keeps the order of insertion, so the first entry is always the oldest.
  readonly #entries = new Map<K, V>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > this.#limit && !oldest.done) this.#entries.delete(oldest.value);
  }

  values(): Iterable<V> {
    return this.#entries.values();
  }
}

/** Lets a burst of this size through, and then one more for each period. */
class TokenBucket {
  readonly #capacity: number;
  readonly #periodMs: number;
  #tokens: number;
  #at: number;

  constructor(capacity: number, periodMs: number, now: number) {
    this.#capacity = capacity;
    this.#periodMs = periodMs;
    this.#tokens = capacity;
    this.#at = now;
  }

  take(now: number): boolean {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#at) / this.#periodMs);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
