// Time as a port: what waits, backs off or measures asks a Clock, so that a test can run an hour in a millisecond.

export type Cancel = () => void;

export interface Clock {
  /** Milliseconds that only ever grow. Fit for measuring and for deadlines; it is not the time of day. */
  now(): number;
  /** Runs `run` once, not before `ms` have passed and never from within this call. */
  after(ms: number, run: () => void): Cancel;
}

// A longer setTimeout fires at once. A longer wait ends early, and its caller reads the clock and waits again.
const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(Math.max(0, Math.ceil(ms)), longestTimer));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or at once when the signal aborts: the caller checks the signal afterwards. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      cancel();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = clock.after(ms, finish);
    signal.addEventListener("abort", finish);
  });
}

/** Exponential, capped, and spread by chance, so that many that failed together do not retry together. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Share of the delay that chance may take off, 0 to 1. */
  readonly jitter: number;
}

/** How long to wait after this many failures in a row. `failures` counts from 1; `chance` is in [0, 1). */
export function backoffDelay(backoff: Backoff, failures: number, chance: number): number {
  // 2^60 first delays are beyond every cap, and a larger exponent would only reach Infinity.
  const doublings = Math.min(Math.max(0, failures - 1), 60);
  const delay = Math.min(backoff.maxMs, backoff.firstMs * 2 ** doublings);
  return delay * (1 - backoff.jitter * chance);
}
