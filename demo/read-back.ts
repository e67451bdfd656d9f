// Compares what was read with what was acknowledged, on both sides of the backup's revision. After a restore, a write that the
// backup has must be there, and a later one cannot be.

export interface Acknowledged {
  readonly key: string;
  readonly value: string;
  readonly revision: number;
}

export interface Side {
  readonly acknowledged: number;
  readonly found: number;
}

export interface Comparison {
  /** Up to the revision. */
  readonly kept: Side;
  readonly later: Side;
  /** The first that should be there and is not. */
  readonly lost: Acknowledged | undefined;
}

/** Without a revision, everything must be there. */
export function compare(
  acknowledged: readonly Acknowledged[],
  found: ReadonlyMap<string, string>,
  revision: number = Number.POSITIVE_INFINITY,
): Comparison {
  const isThere = ({ key, value }: Acknowledged): boolean => found.get(key) === value;
  const side = (writes: readonly Acknowledged[]): Side => ({
    acknowledged: writes.length,
    found: writes.filter(isThere).length,
  });
  const kept = acknowledged.filter((write) => write.revision <= revision);
  const later = acknowledged.filter((write) => write.revision > revision);
  return { kept: side(kept), later: side(later), lost: kept.find((write) => !isThere(write)) };
}
