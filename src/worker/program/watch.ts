// Watches bytes move: says how far they are every few seconds, and gives up when none has moved for too long. There is no
// limit to the whole: a large database takes its time.
import { type Cancel, type Clock } from "../../kube/clock.ts";
import { follow } from "../../kube/abort.ts";
import { bytesInWords } from "../../kube/objects/size.ts";
import type { Fields, Logger } from "../../kube/process/log.ts";
import { WorkerFailure } from "./failure.ts";

export interface Watch {
  /** Aborts when nothing moves any more, and when the process is asked to end. */
  readonly signal: AbortSignal;
  moved(bytes: number): void;
}

interface Watched {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly stalledAfterSeconds: number;
  readonly passed?: (bytes: number) => void;
  /** For logs and sentences, as in `upload`. */
  readonly what: string;
}

/** Milliseconds. */
const sayEvery = 5000;
/** Within which work that was aborted has to clean up: less than the grace period of the pod. */
const cleanUpWithin = 7000;

export async function watched<T>(options: Watched, work: (watch: Watch) => Promise<T>): Promise<T> {
  const { clock, log, what } = options;
  const following = follow(options.signal);
  const began = clock.now();
  const patience = Math.max(1, options.stalledAfterSeconds) * 1000;
  let last = began;
  let bytes = 0;
  let said = 0;
  let cancel: Cancel = () => {};
  const rate = (): Fields => ({ bytes, bytesPerSecond: Math.round((bytes * 1000) / Math.max(1, clock.now() - began)) });
  const check = (): void => {
    const idle = clock.now() - last;
    if (idle >= patience) following.abort(stalled(what, options.stalledAfterSeconds, bytes));
    else {
      if (bytes > said) log.info(`${what}: under way`, rate());
      said = bytes;
      cancel = clock.after(Math.min(sayEvery, patience - idle), check);
    }
  };
  cancel = clock.after(Math.min(sayEvery, patience), check);
  const watch: Watch = {
    signal: following.signal,
    moved(count) {
      bytes += count;
      last = clock.now();
      options.passed?.(count);
    },
  };
  try {
    const done = await untilAborted(work(watch), following.signal, clock);
    if (bytes > 0) log.info(`${what}: done`, rate());
    return done;
  } catch (error) {
    // What the work says about its abortion is less than why it was aborted.
    if (following.signal.aborted) throw asError(following.signal.reason);
    throw error;
  } finally {
    cancel();
    following.release();
  }
}

/** Work that does not notice that it was aborted is left behind. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal, clock: Clock): Promise<T> {
  const gaveUp = Promise.withResolvers<never>();
  gaveUp.promise.catch(() => {});
  let cancel: Cancel = () => {};
  const onAbort = (): void => {
    cancel = clock.after(cleanUpWithin, () => gaveUp.reject(asError(signal.reason)));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, gaveUp.promise]);
  } finally {
    cancel();
    signal.removeEventListener("abort", onAbort);
  }
}

const stalled = (what: string, seconds: number, bytes: number): WorkerFailure =>
  new WorkerFailure(
    "stalled",
    `The ${what} stood still for ${seconds} s after ${bytesInWords(bytes)}. Check the network, the store and the etcd members.`,
  );

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

/** Counts what passes by. */
export async function* counted(stream: AsyncIterable<Uint8Array>, watch: Watch): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    watch.moved(chunk.length);
    yield chunk;
  }
}
