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

/** A check that failed although the product was right: the machine's own mistake, and the test that finds that now. */
export interface FalseAlarm {
  readonly check: string;
  readonly seenBy: string;
  readonly what: string;
  readonly test: string;
}

export const falseAlarms: readonly FalseAlarm[] = [
  {
    check: "identity",
    seenBy: "make chaos CHAOS_SEED=7, round 13",
    what: "Two looks at one member were under way at once, and the later one was answered first: its revision, lower by one, was taken for a step back.",
    test: "chaos/judging/judging.test.ts",
  },
];
