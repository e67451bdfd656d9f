// Every file that ARCHITECTURE.md or the README of a folder names exists, so that a map never shows what is gone.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { folderGuides, linksIn, root, textOf } from "./pages.ts";

/** Files and folders in code: `plan/safety.ts`, `act/`. */
function namedIn(markdown: string): string[] {
  const code = [...markdown.matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) => text);
  return code.filter((text) => /^[\w./-]+(\.(ts|yaml|md)|\/)$/.test(text));
}

const isThere = (name: string, folders: readonly string[]): boolean =>
  folders.some((folder) => existsSync(path.join(root, folder, name)));

describe("files that are named", () => {
  test("in ARCHITECTURE.md exist", () => {
    const named = namedIn(textOf("ARCHITECTURE.md"));
    assert.ok(named.length > 20, `${named.length} are too few to be true`);
    assert.deepEqual(
      named.filter((name) => !isThere(name, ["", "src", "src/cluster"])),
      [],
    );
  });

  for (const guide of folderGuides)
    test(`in ${guide} exist, and so do the pages that it links`, () => {
      const folder = path.dirname(guide);
      const links = linksIn(textOf(guide)).map(({ file }) => file);
      assert.deepEqual(
        namedIn(textOf(guide)).filter((name) => !isThere(name, [folder, ""])),
        [],
      );
      assert.deepEqual(
        links.filter((file) => !isThere(file, [folder])),
        [],
      );
    });
});
