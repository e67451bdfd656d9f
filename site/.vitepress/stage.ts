// Where pages of the tree stand in the site, and a copy of them there: VitePress wants its pages below its own packages.
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import * as path from "node:path";

/** README.md is the entry of its language; docs/ is the root; translations stand below their language. */
export function siteOf(page: string): string {
  if (page === "README.md") return "index.md";
  if (page === "README.zh-CN.md") return "zh/index.md";
  if (page === "charts/etcd-operator/README.md") return "reference/helm.md";
  return page.replace(/^docs\//, "").replace(/^(ARCHITECTURE|CONTRIBUTING|CHANGELOG)\.md$/, (name) => name.toLowerCase());
}

/** Returns the folder of the copies. */
export function stage(root: string, pages: readonly string[]): string {
  const staged = path.join(root, "site/.pages");
  rmSync(staged, { recursive: true, force: true });
  for (const page of pages) {
    const copy = path.join(staged, siteOf(page));
    mkdirSync(path.dirname(copy), { recursive: true });
    copyFileSync(path.join(root, page), copy);
  }
  const images = path.join(root, "docs/images");
  if (existsSync(images)) cpSync(images, path.join(staged, "public/images"), { recursive: true });
  return staged;
}
