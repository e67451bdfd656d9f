// How long to wait after so many failures in a row: exponential, capped, and spread by chance so that many who
// failed together do not come back together.

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Share of the delay that chance may take off, 0 to 1. */
  readonly jitter: number;
}

/** `failures` counts from 1; `chance` is in [0, 1). */
export function backoffDelay(backoff: Backoff, failures: number, chance: number): number {
  // 2^60 first delays are beyond every cap, and a larger exponent would only reach Infinity.
  const doublings = Math.min(Math.max(0, failures - 1), 60);
  const delay = Math.min(backoff.maxMs, backoff.firstMs * 2 ** doublings);
  return delay * (1 - backoff.jitter * chance);
}
