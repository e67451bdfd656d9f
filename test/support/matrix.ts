// Exhaustive matrices: `make test` runs a sample of each that takes every path, `make matrix` all of it.
import { test, type TestContext } from "node:test";
import { type EtcdVersion, etcdVersions } from "../../lab/build/etcd.ts";

export const isMatrix: boolean = process.env["MATRIX"] === "all";

/** A test of the whole matrix: the sample has one that takes the same path. */
export function matrixTest(name: string, work: (context: TestContext) => Promise<void>): void {
  if (isMatrix) test(name, work);
}

export interface Row {
  /** Takes the same path as a row of the sample. */
  readonly onlyInMatrix?: boolean;
}

/** The sample, or all rows. */
export function rowsOf<T extends Row>(rows: readonly T[]): readonly T[] {
  return rows.filter(({ onlyInMatrix }) => isMatrix || !onlyInMatrix);
}

/** The version of the examples, the one that most people run, and the newest; or all that the lab has. */
export const triedVersions: readonly EtcdVersion[] = isMatrix ? etcdVersions : ["3.2.13", "3.5.35", "3.7.3"];
