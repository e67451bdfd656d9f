// A page and its translation say the same: as many headings of each level, the same commands, and links to the same pages.
import assert from "node:assert/strict";
import * as path from "node:path";
import { describe, test } from "node:test";
import { linksIn, textOf as read } from "./pages.ts";
import { translations } from "./typed.ts";

const blocksIn = (text: string): string[] => [...text.matchAll(/^```.*\n[^]*?^```$/gm)].map(([block]) => block);
const withoutBlocks = (text: string): string => text.replaceAll(/^```.*\n[^]*?^```$/gm, "");
const shapeOf = (text: string): string[] =>
  [...withoutBlocks(text).matchAll(/^(#+ |[-\d] ?\.? |\|)/gm)].map(([start]) => start.trim());
const codeIn = (text: string): string[] =>
  [...new Set([...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code))].sort();
/** Where a link leads, as a path of the tree. A translation leads to translations. */
const targetsIn = (file: string): string[] =>
  linksIn(read(file))
    .filter((link) => link.file !== "")
    .map((link) => path.join(path.dirname(file), link.file));

for (const { page, translation } of translations)
  describe(translation, () => {
    test("has the headings, lists and tables of the page", () =>
      assert.deepEqual(shapeOf(read(translation)), shapeOf(read(page))));

    test("has its commands, and names the same things in them", () => {
      assert.deepEqual(blocksIn(read(translation)), blocksIn(read(page)));
      assert.deepEqual(codeIn(read(translation)), codeIn(read(page)));
    });

    test("leads where the page leads", () => {
      const originals = targetsIn(translation).map(
        (target) => translations.find((one) => one.translation === target)?.page ?? target,
      );
      const wanted = targetsIn(page).map(
        (target) => translations.find((one) => one.translation === target)?.page ?? target,
      );
      assert.deepEqual([...new Set(originals)].sort(), [...new Set(wanted)].sort());
    });
  });
