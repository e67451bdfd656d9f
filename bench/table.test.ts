import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "./measure.ts";
import { markdownTable, screenTable, short } from "./table.ts";

const figures = [
  compare({ what: "working set", unit: "MiB", ours: [20], floor: [16], floorIs: "bare", atMost: 25 }),
  compare({ what: "others", unit: "a minute", ours: [0, 4], floor: [0, 0], floorIs: "bare", atMost: 0, note: "4 get" }),
];

test("numbers have three digits that count", () => {
  assert.deepEqual([0, 0.01234, 1.5, 23.456, 99.99, 1234.5].map(short), ["0", "0.0123", "1.5", "23.5", "100", "1235"]);
});

test("the screen shows floor, ratio and whether the aim was met", () => {
  const [head = "", first = "", second = "", note] = screenTable(figures).split("\n");
  assert.match(first, /^working set +MiB +1 +20 +20 +bare +16 +16 +1\.25× +≤ 25 ✓$/);
  assert.match(second, /^others +a minute +2 +0 +4 +bare +0 +0 +– +≤ 0 ✗$/);
  assert.equal(note, "  others: 4 get");
  assert.equal(head.indexOf("UNIT"), first.indexOf("MiB"));
});

test("an aim on the ratio is distinguished from one on the value", () => {
  const figure = compare({ what: "create", unit: "s", ours: [5], floor: [2], floorIs: "plain", ratioAtMost: 2 });
  assert.match(screenTable([figure]), / 2\.50× +≤ 2× ✗$/);
});

test("markdown has a cell for every column", () => {
  const lines = markdownTable(figures).split("\n");
  assert.deepEqual(new Set(lines.map((line) => line.split("|").length)), new Set([12]));
  assert.match(lines[1]!, /^\| --- \| --- \| ---: /);
});
