// Every command in README and docs is typed by a suite, or the table says why not.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { allPages, textOf } from "./pages.ts";
import { type ShellBlock, shellBlocks } from "./shell-blocks.ts";
import { filledIn, translations, type TypedBlock, typedBlocks, typedPages, untyped } from "./typed.ts";

const translated: ReadonlySet<string> = new Set(translations.map(({ translation }) => translation));
const pages = allPages().filter((page) => !translated.has(page));
const blocks = pages.flatMap((page) => shellBlocks(textOf(page)).map((block) => ({ page, block })));
const isTyped = new Set(typedPages.map(({ page }) => page));
const firstLine = ({ script }: ShellBlock): string => script.split("\n", 1)[0] ?? "";
const linesOf = ({ script }: ShellBlock): string[] => script.split("\n");

/** What stands in a block that is typed need not be typed again on another page. */
const typedLines = new Set(
  blocks.flatMap(({ page, block }) => (block.isRun && isTyped.has(page) ? linesOf(block) : [])),
);
const isSaidElsewhere = (block: ShellBlock): boolean => linesOf(block).every((line) => typedLines.has(line));
const isOf = (row: { readonly page: string }, page: string): boolean =>
  row.page.endsWith("/") ? page.startsWith(row.page) : page === row.page;
const apart: readonly TypedBlock[] = Object.values(typedBlocks);
const isTypedApart = (page: string, block: ShellBlock): boolean =>
  apart.some((row) => row.page === page && row.begins === firstLine(block));
const isFilledIn = (page: string): boolean => filledIn.some((row) => isOf(row, page));
const reasonsFor = (page: string, block: ShellBlock): number[] =>
  untyped.flatMap((row, at) => {
    return isOf(row, page) && (row.begins === undefined || row.begins === firstLine(block)) ? [at] : [];
  });

describe("commands in the docs", () => {
  test("are marked, or stand in a marked block too, or have a reason", () => {
    const unmarked = blocks.filter(({ block }) => !block.isRun);
    const missing = unmarked.filter(
      ({ page, block }) =>
        !isSaidElsewhere(block) &&
        !isFilledIn(page) &&
        !isTypedApart(page, block) &&
        reasonsFor(page, block).length === 0,
    );
    assert.deepEqual(
      missing.map(({ page, block }) => `${page}:${block.line} ${firstLine(block)}`),
      [],
    );
  });

  test("are typed by a suite where they are marked", () => {
    const marked = new Set(blocks.flatMap(({ page, block }) => (block.isRun ? [page] : [])));
    assert.deepEqual([...marked].toSorted(), [...isTyped].toSorted());
  });

  test("that are typed apart are there, and not marked", () => {
    const unmarked = blocks.filter(({ block }) => !block.isRun);
    assert.deepEqual(
      apart.filter(({ page, begins }) => !unmarked.some((one) => one.page === page && firstLine(one.block) === begins)),
      [],
    );
  });

  test("are typed by files that are there", () => {
    const files = [...typedPages, ...filledIn, ...apart].map(({ by }) => by);
    assert.deepEqual(
      files.filter((file) => !existsSync(path.join(import.meta.dirname, "..", file))),
      [],
    );
  });

  test("have no reason that nothing needs", () => {
    const used = new Set(
      blocks.flatMap(({ page, block }) => (block.isRun || isSaidElsewhere(block) ? [] : reasonsFor(page, block))),
    );
    assert.deepEqual(
      untyped.filter((_, at) => !used.has(at)),
      [],
    );
  });
});
