// The manual names every fault and every change that there is, and nothing else.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { changeNames } from "./changes/list.ts";
import { faultNames } from "./faults/list.ts";

test("docs/lab.md has the faults and the changes of `make chaos`", () => {
  const manual = readFileSync(path.join(import.meta.dirname, "../docs/lab.md"), "utf8");
  const rows = manual.split("| faults | changes |")[1]?.split("\n\n")[0]?.split("\n").slice(2) ?? [];
  const named = (column: number): string[] =>
    rows.flatMap((row) => [...(row.split("|")[column] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
  assert.deepEqual(named(1).toSorted(), faultNames.toSorted());
  assert.deepEqual(named(2).toSorted(), changeNames.toSorted());
});
