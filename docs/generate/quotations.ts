// What stands in pages that are written by hand and is said elsewhere: screens of `kubectl etcd status`, which are the golden
// screens of the plugin's own tests, and manifests of example/. Each stands in a block below a comment that names it.
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { keptIn80Columns } from "../../src/plugin/view/testing/golden.ts";
import { root } from "../pages.ts";

const screens = /(<!-- Screen: ([a-z-]+) -->\n```text\n)[^]*?(\n```)/g;
const files = /(<!-- File: (\S+) -->\n```yaml\n)[^]*?(\n```)/g;

export const withQuotations = (page: string): string =>
  page
    .replaceAll(screens, (_, head: string, name: string, end: string) => `${head}${keptIn80Columns(name)}${end}`)
    .replaceAll(files, (_, head: string, file: string, end: string) => {
      return `${head}${readFileSync(path.join(root, file), "utf8").trimEnd()}${end}`;
    });
