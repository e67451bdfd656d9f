// A rule for the site's Markdown that turns links between files of the tree into links between pages. Whatever leads to a file
// that is no page becomes text: the site has no copy of it.
import * as path from "node:path";
import type { MarkdownRenderer } from "vitepress";
import { siteOf } from "./stage.ts";

interface Tree {
  /** The folder of the copies. */
  readonly staged: string;
  readonly pages: readonly string[];
}

export function linksOfTree(md: MarkdownRenderer, { staged, pages }: Tree): void {
  const sources = new Map(pages.map((page) => [siteOf(page), page]));
  const known = new Set(pages);
  md.core.ruler.push("links-of-tree", ({ tokens, env }) => {
    const page = sources.get(path.relative(staged, (env as { path: string }).path));
    if (page === undefined) return;
    const inTree = (file: string): string => path.normalize(path.join(path.dirname(page), decodeURI(file)));
    for (const { children } of tokens)
      for (const [at, token] of (children ?? []).entries()) {
        const src = token.attrGet("src");
        if (token.type === "image" && src !== null && !/^[a-z]+:/.test(src))
          token.attrSet("src", `/${siteOf(inTree(src))}`);
        const href = token.attrGet("href");
        if (token.type !== "link_open" || href === null || /^([a-z]+:|#)/.test(href)) continue;
        const [file = "", anchor] = href.split("#", 2);
        const target = inTree(file);
        // A page that is missing stays a link, and the build ends with it.
        if (known.has(target)) token.attrSet("href", `/${siteOf(target)}${anchor === undefined ? "" : `#${anchor}`}`);
        if (target.endsWith(".md")) continue;
        const end = (children ?? []).slice(at).find(({ type }) => type === "link_close");
        Object.assign(token, { tag: "span", type: "span_open", attrs: [["title", `${target}, in the repository`]] });
        if (end !== undefined) Object.assign(end, { tag: "span", type: "span_close" });
      }
  });
}
