// What stands in pages that are written by hand and is said elsewhere: screens of `kubectl etcd status`, which are the golden
// screens of the plugin's own tests, and manifests of example/. Each stands in a block below a comment that names it.
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { kept } from "../../src/plugin/view/testing/golden.ts";
import { root } from "../pages.ts";

const screens = /(<!-- Screen: ([a-z-]+) -->\n```text\n)[^]*?(\n```)/g;
const files = /(<!-- File: (\S+) -->\n```yaml\n)[^]*?(\n```)/g;

/** As a terminal of 80 columns shows it. */
export function screenOf(name: string): string {
  const [, screen] = /^=== 80 columns\n([^]*?)\n\n===/.exec(kept(name)) ?? [];
  if (screen === undefined) throw new RangeError(`The golden screen ${name} has no part for 80 columns.`);
  return screen.trimEnd();
}

export const withQuotations = (page: string): string =>
  page
    .replaceAll(screens, (_, head: string, name: string, end: string) => `${head}${screenOf(name)}${end}`)
    .replaceAll(files, (_, head: string, file: string, end: string) => {
      return `${head}${readFileSync(path.join(root, file), "utf8").trimEnd()}${end}`;
    });
