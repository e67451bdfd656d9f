// How these benchmarks wait and take the time: one way for all, so that ours and its floor are polled equally often.
import { setTimeout as sleep } from "node:timers/promises";
import { waitFor } from "../../lab/progress.ts";

export const pollEveryMs = 20;
/** Only what never comes takes this long. */
const patienceMs = 300_000;

/** Polls until it gets something else than a text; the text says why not yet. */
export async function until<T extends object>(
  what: string,
  read: () => Promise<T | string>,
  signal: AbortSignal,
): Promise<T> {
  let seen = "nothing yet";
  const found = await waitFor<{ t: "aborted" } | { t: "seen"; value: T }>(
    what,
    async () => {
      if (signal.aborted) return { t: "aborted" };
      const value = await read();
      if (typeof value !== "string") return { t: "seen", value };
      seen = value;
      return undefined;
    },
    { timeoutMs: patienceMs, everyMs: pollEveryMs, lastSeen: () => seen },
  );
  if (found.t === "seen") return found.value;
  throw signal.reason;
}

/** etcd adds no member while a link between voters is younger than 5 s; in a cluster at rest none is. */
const restMs = 6_000;

export function rest(signal: AbortSignal): Promise<void> {
  return sleep(restMs, undefined, { signal });
}

/** So long clients write before something is done to their cluster, and again after it is whole. */
const calmMs = 1_000;

export function calm(signal: AbortSignal): Promise<void> {
  return sleep(calmMs, undefined, { signal });
}

/**
 * Tells the seconds since now, where now is any moment: kubelets sync their pods once a second, and what was waited
 * for before came to an end at such a sync, so that without this each work would begin right after one.
 */
export async function stopwatch(): Promise<() => number> {
  await sleep(1000 * Math.random());
  const began = performance.now();
  return () => (performance.now() - began) / 1000;
}

/** Seconds that the work took. */
export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const seconds = await stopwatch();
  await work();
  return seconds();
}
