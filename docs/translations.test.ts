// A page and its translation say the same: as many headings of each level, the same commands, and links that lead somewhere.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";

const root = path.resolve(import.meta.dirname, "..");
const translations = [
  { page: "README.md", translation: "README.zh-CN.md" },
  { page: "docs/concepts.md", translation: "docs/zh/concepts.md" },
] as const;

const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const blocksIn = (text: string): string[] => [...text.matchAll(/^```.*\n[^]*?^```$/gm)].map(([block]) => block);
const withoutBlocks = (text: string): string => text.replaceAll(/^```.*\n[^]*?^```$/gm, "");
const shapeOf = (text: string): string[] =>
  [...withoutBlocks(text).matchAll(/^(#+ |[-\d] ?\.? |\|)/gm)].map(([start]) => start.trim());
const codeIn = (text: string): string[] =>
  [...new Set([...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code))].sort();
const linksIn = (text: string): string[] =>
  [...withoutBlocks(text).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
/** Where a link leads, as a path of the tree. A translation leads to translations. */
const targetsIn = (file: string): string[] =>
  linksIn(read(file))
    .filter((link) => !link.startsWith("http"))
    .map((link) => path.join(path.dirname(file), link));

for (const { page, translation } of translations)
  describe(translation, () => {
    test("has the headings, lists and tables of the page", () =>
      assert.deepEqual(shapeOf(read(translation)), shapeOf(read(page))));

    test("has its commands, and names the same things in them", () => {
      assert.deepEqual(blocksIn(read(translation)), blocksIn(read(page)));
      assert.deepEqual(codeIn(read(translation)), codeIn(read(page)));
    });

    test("leads where the page leads, and that is there", () => {
      const originals = targetsIn(translation).map(
        (target) => translations.find((one) => one.translation === target)?.page ?? target,
      );
      const wanted = targetsIn(page).map(
        (target) => translations.find((one) => one.translation === target)?.page ?? target,
      );
      assert.deepEqual([...new Set(originals)].sort(), [...new Set(wanted)].sort());
      for (const target of targetsIn(translation)) assert.ok(existsSync(path.join(root, target)), target);
    });
  });
