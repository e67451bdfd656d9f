// Exhaustive matrices: `make test` runs a sample of each that takes every path, `make matrix` all of it.

export const isMatrix: boolean = process.env["MATRIX"] === "all";

export interface Row {
  /** Takes the same path as a row of the sample. */
  readonly onlyInMatrix?: boolean;
}

/** The sample, or all rows. */
export function rowsOf<T extends Row>(rows: readonly T[]): readonly T[] {
  return rows.filter(({ onlyInMatrix }) => isMatrix || !onlyInMatrix);
}
