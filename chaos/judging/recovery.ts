// How long a fault was felt: until writes were acknowledged again, until the cluster was whole again, and the longest time
// without an acknowledged write.
import type { Sample } from "./samples.ts";

export interface Recovery {
  /** From the injection to the end of the longest time without an acknowledged write after it; 0: none was long. */
  readonly writableMs: number;
  /** The longest time without an acknowledged write, of the whole round. */
  readonly longestGapMs: number;
  /** From the injection until the status was Ready and all voters answered, for good. Absent: never. */
  readonly healedMs?: number;
  /** When the fault was undone, after its injection. */
  readonly undoneMs?: number;
}

/** Shorter times without a write there are in every cluster. */
export const shortMs = 500;

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Acknowledged at these times; clients finish in any order. The time until the end counts, too. */
export function longestGap(acknowledged: readonly number[], from: number, to: number): Gap {
  let longest: Gap = { from, to: from };
  let last = from;
  for (const at of [...acknowledged.filter((one) => one >= from && one <= to).toSorted((a, b) => a - b), to]) {
    if (at - last > longest.to - longest.from) longest = { from: last, to: at };
    last = at;
  }
  return longest;
}

/** The first time from which on it was seen healthy until the last look. */
export function healedAt(samples: readonly Sample[], from: number): number | undefined {
  const after = samples.filter(({ at }) => at >= from);
  const lastSick = after.findLastIndex(({ healthy }) => !healthy);
  return lastSick < 0 ? from : after[lastSick + 1]?.at;
}

interface Times {
  readonly began: number;
  readonly injected: number;
  readonly undone: number | undefined;
  /** When the traffic ended. */
  readonly ended: number;
}

export function recoveryOf(times: Times, acknowledged: readonly number[], samples: readonly Sample[]): Recovery {
  const { began, injected, undone, ended } = times;
  const whole = longestGap(acknowledged, began, ended);
  // Counted from the write before the injection, so that a gap during which it came is one.
  const before = acknowledged.filter((at) => at <= injected).reduce((a, b) => Math.max(a, b), began);
  const after = longestGap(acknowledged, before, ended);
  const healed = healedAt(samples, injected);
  return {
    writableMs: after.to - after.from < shortMs ? 0 : Math.max(0, after.to - injected),
    longestGapMs: whole.to - whole.from,
    ...(healed !== undefined && { healedMs: healed - injected }),
    ...(undone !== undefined && { undoneMs: undone - injected }),
  };
}

export interface Spread {
  readonly n: number;
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { n: sorted.length, min: sorted[0] ?? 0, p50: at(0.5), p90: at(0.9), max: sorted.at(-1) ?? 0 };
}
