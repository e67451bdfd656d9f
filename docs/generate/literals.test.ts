// Literals are read as TypeScript reads them: comments and regular expressions hold none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { literalsIn } from "./literals.ts";

const cases: [string, string, string[]][] = [
  ["both quotes", `f("a", 'b')`, ["a", "b"]],
  ["escapes", String.raw`x = "say \"it\"\n"`, ['say "it"\n']],
  ["gaps", "x = `a ${b} c`", ["a … c"]],
  ["literals inside of a gap, after the whole", 'x = `a ${y ? "b" : `c ${d}`} e`', ["a … e", "b", "c …"]],
  ["brackets inside of a gap", "x = `${f({ a: {} })}.`; y = 'z'", ["….", "z"]],
  ["no comments", "// it's \n/* don't */ x = 'a'", ["a"]],
  ["no regular expressions", String.raw`x = /"[/"]\/'/.test("a")`, ["a"]],
  ["division", "x = a / b; y = 'c' + d / 2", ["c"]],
];
for (const [what, source, wanted] of cases)
  test(`literals: ${what}`, () =>
    assert.deepEqual(
      literalsIn(source).map(({ text }) => text),
      wanted,
    ));

test("a literal has the line that it begins in", () => {
  assert.deepEqual(literalsIn("\nx = 1;\ny = 'a';"), [{ text: "a", line: 3 }]);
});
