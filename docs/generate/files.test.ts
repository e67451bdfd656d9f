// The generated pages say what the code says: a flag or condition that is added has to be in them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { generatedPages } from "./files.ts";
import { figuresIn } from "./recovery-times.ts";

const root = path.resolve(import.meta.dirname, "../..");

for (const page of generatedPages)
  test(`${page.path} is up to date (else run: node docs/generate.ts)`, () => {
    assert.equal(readFileSync(path.join(root, page.path), "utf8"), page.render());
  });

test("a figure is in seconds, as exact as it is worth", () => {
  const page =
    "| a | s | 10 | 3.15 | 3.7 | pods | 1.63 | 1.9 | 1.93× | ≤ 2× ✓ |\n| b | ms | 5 | 35.1 | 106 | pods | 12.3 | 14 | 2× |  |\n";
  assert.deepEqual(
    [...figuresIn(page)],
    [
      ["a", { ours: "3.1 s", floor: "1.6 s", ratio: "1.93×" }],
      ["b", { ours: "0.04 s", floor: "0.01 s", ratio: "2×" }],
    ],
  );
});
