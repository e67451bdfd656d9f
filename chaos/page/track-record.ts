// Kept by hand: what this machine has found in the product, since when it was there, and the test that finds it now.

export interface Found {
  readonly what: string;
  /** The release or the commit that brought it. */
  readonly since: string;
  /** The commit that ended it. Absent: it is still there. */
  readonly until?: string;
  /** What to type to see it. */
  readonly seenBy: string;
  /** The file that fails if it comes back. */
  readonly test: string;
}

export const found: readonly Found[] = [];
