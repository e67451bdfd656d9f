// Manifests of example/ in pages that are written by hand: each stands in a block below a comment that names its file.
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { root } from "../pages.ts";

const blocks = /(<!-- File: (\S+) -->\n```yaml\n)[^]*?(\n```)/g;

export const withManifests = (page: string): string =>
  page.replaceAll(blocks, (_, head: string, file: string, end: string) => {
    return `${head}${readFileSync(path.join(root, file), "utf8").trimEnd()}${end}`;
  });
