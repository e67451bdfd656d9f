import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { printable, printableLine, printableValue } from "./printable.ts";

describe("text of others is printed without what a terminal obeys", () => {
  const rows: readonly (readonly [what: string, text: string, lines: string, line: string])[] = [
    ["plain text", "3 of 5: größer, 中文 🙂", "3 of 5: größer, 中文 🙂", "3 of 5: größer, 中文 🙂"],
    ["a colour", "\u001B[31mred\u001B[0m", "�[31mred�[0m", "�[31mred�[0m"],
    ["a screen that is cleared", "a\u001B[2J\u001B[Hb", "a�[2J�[Hb", "a�[2J�[Hb"],
    ["a hyperlink", "\u001B]8;;http://evil\u001B\\ok\u001B]8;;\u0007", "�]8;;http://evil�\\ok�]8;;�", ""],
    ["the clipboard", "\u001B]52;c;cm0=\u0007", "�]52;c;cm0=�", ""],
    ["a sequence of 8 bits", "\u009B2J\u009D0;title\u009C", "�2J�0;title�", ""],
    ["a line that overwrites", "failed\rok", "failed�ok", "failed ok"],
    ["backspaces and DEL", "bad\b\b\u007F", "bad���", ""],
    ["a bell, NUL, and shifts", "\u0007\u0000\u000E\u000F", "����", ""],
    ["a direction that is turned", "\u202Egnp.exe\u202C \u2066x\u2069", "�gnp.exe� �x�", ""],
    ["no width", "a\u200Bb\uFEFFc\u00ADd\u200F", "a�b�c�d�", ""],
    ["letters that are not seen", "x\u{E0041}", "x�", ""],
    ["half a pair", "x\uD83D", "x�", ""],
    ["lines and tabs", "one\n\ttwo\r\nthree", "one\n\ttwo\nthree", "one two three"],
    [
      "separators of lines",
      "one\u2028two\u2029three\u0085four\vfive\fsix",
      "one�two�three�four�five�six",
      "one two three four five six",
    ],
  ];
  for (const [what, text, lines, line] of rows)
    test(what, () => {
      assert.equal(printable(text), lines);
      assert.equal(printableLine(text), line === "" ? lines : line);
    });

  test("whatever it is: nothing is left, and once is enough", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        assert.doesNotMatch(printable(text).replaceAll(/[\n\t]/g, ""), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        assert.doesNotMatch(printableLine(text), /\p{Cc}/u);
        assert.equal(printable(printable(text)), printable(text));
        assert.equal(printableLine(printableLine(text)), printableLine(text));
        assert.ok(printable(text).length <= text.length);
      }),
    );
  });
});

test("every text of a value is cleaned, at any depth", () => {
  const value = { a: "\u001B", b: [{ "k\u009B": "ok" }, 1, null, true], c: undefined };
  assert.deepEqual(printableValue(value), { a: "�", b: [{ "k�": "ok" }, 1, null, true], c: undefined });
});
