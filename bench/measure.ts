// What a benchmark gives back: samples of ours beside samples of a floor, taken in the same run, and their ratio.

type Unit = "ms" | "s" | "MiB" | "a minute" | "at once" | "writes";

interface Spread {
  readonly n: number;
  readonly p50: number;
  /** The largest where there are fewer than a hundred samples. */
  readonly p99: number;
}

/**
 * What a figure should not exceed. Never a time: the machine is shared, and nothing here fails for being slow. But it may
 * be a ratio of two times, because the floor had the same machine to share.
 */
export interface Aim {
  readonly of: "value" | "ratio";
  readonly atMost: number;
  readonly met: boolean;
}

export interface Figure {
  readonly what: string;
  readonly unit: Unit;
  readonly ours: Spread;
  readonly floor: Spread & { readonly what: string };
  /** The ratio of the medians; absent when the floor is nothing. */
  readonly ratio?: number;
  readonly aim?: Aim;
  /** What a reader of the figure should know, such as which requests they were. */
  readonly note?: string;
}

interface Comparison {
  what: string;
  unit: Unit;
  ours: readonly number[];
  floor: readonly number[];
  /** The least that could do the same job. */
  floorIs: string;
  /** An aim has one bound, on the value or on the ratio. */
  atMost?: number;
  ratioAtMost?: number;
  note?: string;
}

export function compare({ what, unit, ours, floor, floorIs, atMost, ratioAtMost, note }: Comparison): Figure {
  const our = spread(ours);
  const least = spread(floor);
  const ratio = least.p50 === 0 ? undefined : our.p50 / least.p50;
  const aim = aimAt(our, unit, atMost) ?? aimAtRatio(ratio, ratioAtMost);
  return {
    what,
    unit,
    ours: our,
    floor: { what: floorIs, ...least },
    ...(ratio === undefined ? {} : { ratio }),
    ...(aim === undefined ? {} : { aim }),
    ...(note === undefined ? {} : { note }),
  };
}

/** A count must hold every time; a median would hide the one time that it did not. */
function aimAt(our: Spread, unit: Unit, atMost: number | undefined): Aim | undefined {
  if (atMost === undefined) return undefined;
  return { of: "value", atMost, met: (isCount(unit) ? our.p99 : our.p50) <= atMost };
}

/** Without a ratio nothing was compared, and so no aim was met. */
function aimAtRatio(ratio: number | undefined, atMost: number | undefined): Aim | undefined {
  if (atMost === undefined) return undefined;
  return { of: "ratio", atMost, met: ratio !== undefined && ratio <= atMost };
}

const counts: ReadonlySet<Unit> = new Set<Unit>(["a minute", "at once", "writes"]);
const isCount = (unit: Unit): boolean => counts.has(unit);

function spread(samples: readonly number[]): Spread {
  return { n: samples.length, p50: percentile(samples, 50), p99: percentile(samples, 99) };
}

/** The smallest sample that is not less than this percentage of all. */
export function percentile(samples: readonly number[], percent: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const found = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (found === undefined) throw new RangeError("there are no samples");
  return found;
}
