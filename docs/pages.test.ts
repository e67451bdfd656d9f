// Every link in every page, of both languages, leads to a file that is there and to a heading that it has.
import assert from "node:assert/strict";
import { existsSync, statSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { allPages, anchorsIn, linksIn, prose, root, textOf } from "./pages.ts";

function wrongIn(page: string): string[] {
  return linksIn(textOf(page)).flatMap(({ file, anchor }) => {
    const target = file === "" ? page : path.normalize(path.join(path.dirname(page), decodeURI(file)));
    const whole = path.join(root, target);
    if (target.startsWith("..") || !existsSync(whole)) return [`${file} is not there`];
    if (anchor === undefined || anchor === "") return [];
    if (statSync(whole).isDirectory() || !target.endsWith(".md")) return [`${file} has no headings (#${anchor})`];
    return anchorsIn(textOf(target)).has(decodeURI(anchor)) ? [] : [`${file} has no heading #${anchor}`];
  });
}

describe("links", () => {
  for (const page of allPages())
    test(`of ${page} lead somewhere`, () => {
      assert.deepEqual(wrongIn(page), []);
    });

  for (const page of allPages())
    test(`${page} has no raw HTML, which the site would take for components`, () => {
      const text = prose(textOf(page)).replaceAll(/<!--[^]*?-->/g, "");
      assert.deepEqual(text.match(/(?<!\\)<\/?[a-zA-Z][^\n]*|\{\{[^\n]*/g) ?? [], []);
    });

  test("are found in prose and pictures, and not in code", () => {
    const text = "[a](b.md#c) ![d](e.svg) `[f](g.md)` [h](https://etcd.io) [i](#j)\n```sh\n[k](l.md)\n```\n";
    assert.deepEqual(linksIn(text), [
      { file: "b.md", anchor: "c" },
      { file: "e.svg", anchor: undefined },
      { file: "", anchor: "j" },
    ]);
  });

  test("lead to headings as GitHub names them", () => {
    const text = "# From 3.6 to 3.7\n## `kubectl etcd`: ctl\n## 法定人数\n```sh\n# not one\n```\n## Twice\n## Twice\n";
    assert.deepEqual([...anchorsIn(text)], ["from-36-to-37", "kubectl-etcd-ctl", "法定人数", "twice", "twice-1"]);
  });
});
