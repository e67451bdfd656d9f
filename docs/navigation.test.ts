// Every page is in the navigation, and every entry of it leads to a page and a heading that are there.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { chinese, english, type Group } from "./navigation.ts";
import { allPages, anchorsIn, textOf } from "./pages.ts";

const pages = allPages();
const known = new Set(pages);
const runbooks = pages.filter((page) => page.startsWith("docs/runbooks/"));
const entriesOf = (groups: readonly Group[]): string[] =>
  groups.flatMap(({ entries }) => entries.map(({ page }) => page));
const all = [...entriesOf(english(runbooks)), ...entriesOf(chinese)];

describe("navigation", () => {
  test("has every page", () => {
    const there = new Set(all.map((entry) => entry.split("#", 1)[0] ?? ""));
    assert.deepEqual(
      pages.filter((page) => !there.has(page)),
      [],
    );
  });

  test("leads to pages and headings that are there", () => {
    const wrong = all.filter((entry) => {
      const [page = "", anchor] = entry.split("#", 2);
      return !known.has(page) || (anchor !== undefined && !anchorsIn(textOf(page)).has(anchor));
    });
    assert.deepEqual(wrong, []);
  });
});
