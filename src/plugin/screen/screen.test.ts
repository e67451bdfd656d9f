import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inColour, plain } from "./colour.ts";
import { screenOf, type WhenColour } from "./screen.ts";
import { leftOut, tableLines } from "./table.ts";
import { bytesInWords } from "../../kube/objects/size.ts";
import { ageInWords, shareInWords } from "./words.ts";
import { item, wrapped } from "./wrap.ts";

const minute = 60_000;

describe("figures in words", () => {
  for (const [ms, words] of [
    [45_000, "45s"],
    [119_000, "119s"],
    [5 * minute + 3_000, "5m3s"],
    [42 * minute, "42m"],
    [190 * minute, "3h10m"],
    [30 * 60 * minute, "30h"],
    [3 * 1440 * minute, "3d"],
    [400 * 1440 * minute, "400d"],
    [800 * 1440 * minute, "2y"],
    [-5, "0s"],
  ] as const)
    test(`an age is ${words}`, () => assert.equal(ageInWords(ms), words));

  test("sizes and shares", () => {
    assert.deepEqual([0, 512, 1536, 24 * 1024 ** 2, 2 * 1024 ** 3].map(bytesInWords), [
      "0 B",
      "512 B",
      "1.5 KiB",
      "24 MiB",
      "2 GiB",
    ]);
    assert.deepEqual(
      [shareInWords(0, 100), shareInWords(1, 1000), shareInWords(81, 100), shareInWords(1, 0)],
      ["0 %", "<1 %", "81 %", ""],
    );
  });
});

test("text is broken between words", () => {
  assert.deepEqual(wrapped("one two three", 7), ["one two", "three"]);
  assert.deepEqual(wrapped("extraordinarily long", 5), ["extraordinarily", "long"]);
  assert.deepEqual(item("one two three", 9), ["- one two", "  three"]);
});

test("a table that is too wide leaves out what matters least, and never what matters most", () => {
  const table = {
    columns: [
      { title: "NAME", droppable: 0 },
      { title: "NODE", droppable: 1 },
      { title: "AGE", droppable: 2, align: "right" as const },
    ],
    rows: [["a-long-name", "node-1", "5m"]],
  };
  assert.deepEqual(tableLines(table, 80, plain), ["NAME         NODE    AGE", "a-long-name  node-1   5m"]);
  assert.deepEqual(leftOut(table, 20), ["AGE"]);
  assert.deepEqual(tableLines(table, 5, plain), ["NAME", "a-long-name"]);
});

test("the screen lets only our own colours through, and none where there are none", () => {
  let shown = "";
  const stream = { write: (text: string) => (shown += text), isTTY: true, columns: 80, rows: 24 };
  const printed = (when: WhenColour, text: string): string => {
    shown = "";
    const screen = screenOf({ stdout: stream, stderr: stream, stdin: {}, env: {} } as unknown as NodeJS.Process, when);
    screen.print(text);
    screen.note(text);
    return shown;
  };
  const text = `${inColour("bad", "a")}\u001B[2J\u001B[38;5;1m\u009B1m\r\u202E`;
  const clean = "�[2J�[38;5;1m�1m��\n";
  assert.equal(printed("always", text), `\u001B[31ma\u001B[39m${clean}`.repeat(2));
  assert.equal(printed("never", text), `�[31ma�[39m${clean}`.repeat(2));
});

test("a redrawn screen keeps its own moves of the cursor alone", () => {
  let shown = "";
  const stream = { write: (text: string) => (shown += text), isTTY: true, columns: 80, rows: 24 };
  const screen = screenOf({ stdout: stream, stderr: stream, stdin: {}, env: {} } as unknown as NodeJS.Process, "never");
  screen.draw("a\u001B[H\nb");
  assert.equal(shown, "\u001B[Ha�[H\u001B[K\nb\u001B[K\n\u001B[J");
});

test("a cell with an end of line stays one row", () => {
  const table = { columns: [{ title: "NAME", droppable: 0 }], rows: [["a\nb\tc"]] };
  assert.deepEqual(tableLines(table, 80, plain), ["NAME", "a b c"]);
});
