// Time as a port: what waits, backs off or measures asks a Clock, so that a test can run an hour in a millisecond.

export type Cancel = () => void;

export interface Clock {
  /** Milliseconds that only ever grow. Fit for measuring and for deadlines; it is not the time of day. */
  now(): number;
  /** Runs `run` once, not before `ms` have passed and never from within this call. */
  after(ms: number, run: () => void): Cancel;
}

// A longer setTimeout fires at once. Whoever waits longer is woken early, looks at the clock and waits on.
const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(Math.max(0, Math.ceil(ms)), longestTimer));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or at once when the signal aborts: whoever pauses looks at the signal afterwards. */
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
