// The pages that people read: all Markdown of the tree, what is in them, and where their links lead.
import { globSync, readFileSync } from "node:fs";
import * as path from "node:path";

export const root: string = path.resolve(import.meta.dirname, "..");

/** Maps of folders for those who change them: read beside the code, and no part of the manual or its site. */
export const folderGuides: readonly string[] = [
  ...[
    "transport",
    "kube",
    "etcd",
    "tls",
    "store",
    "seal",
    "worker",
    "controllers",
    "cluster",
    "restore",
    "backup",
    "plugin",
  ].map((folder) => `src/${folder}/README.md`),
  ...["lab", "test", "chaos", "observability", "bench", "install", "docs"].map((folder) => `${folder}/README.md`),
];

/** From the root of the tree, as in docs/clusters.md. */
export function allPages(from: string = root): string[] {
  const found = globSync(["*.md", "docs/**/*.md", "example/**/*.md", "charts/**/*.md", "observability/**/*.md"], {
    cwd: from,
  });
  return found.filter((page) => !folderGuides.includes(page)).toSorted();
}

export const textOf = (page: string): string => readFileSync(path.join(root, page), "utf8");

/** Without code blocks and code: what looks like a link in them is none. */
export function prose(markdown: string): string {
  return markdown.replaceAll(/^( *)```.*\n[^]*?^\1```$/gm, "").replaceAll(/`[^`\n]*`/g, "``");
}

export interface Link {
  /** As it is written: a path, relative to the page, that may be empty. */
  readonly file: string;
  readonly anchor: string | undefined;
}

/** Links and pictures that lead to files of the tree. */
export function linksIn(markdown: string): Link[] {
  return [...prose(markdown).matchAll(/\]\(([^)\s]*)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = "", anchor] = target.split("#", 2);
      return { file, anchor };
    });
}

/** The anchors of a page, as GitHub makes them of its headings: the second of the same name ends in -1. */
export function anchorsIn(markdown: string): Set<string> {
  const counts = new Map<string, number>();
  const text = markdown.replaceAll(/^( *)```.*\n[^]*?^\1```$/gm, "");
  const anchors = [...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, title = ""]) => {
    const anchor = anchorOf(title);
    const before = counts.get(anchor) ?? 0;
    counts.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
  return new Set(anchors);
}

export function anchorOf(title: string): string {
  return title
    .trim()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}
