// The documentation as a site: the pages of the tree under the navigation of docs/navigation.ts. A link to a page that is
// not there ends the build.
import { copyFileSync, mkdirSync } from "node:fs";
import * as path from "node:path";
import { defineConfig } from "vitepress";
import { chinese, english, type Group } from "../../docs/navigation.ts";
import { allPages, anchorOf } from "../../docs/pages.ts";
import { linksOfTree } from "./links.ts";
import { siteOf, stage } from "./stage.ts";

const root = path.resolve(process.cwd(), "..");
const pages = allPages(root);
const staged = stage(root, pages);
const runbooks = pages.filter((page) => page.startsWith("docs/runbooks/"));

const linkTo = (page: string): string => {
  const [file = "", anchor] = page.split("#", 2);
  return `/${siteOf(file).replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, "")}${anchor === undefined ? "" : `#${anchor}`}`;
};
const sidebar = (groups: readonly Group[]) =>
  groups.map(({ text, entries, closed }) => ({
    text,
    collapsed: closed === true,
    items: entries.map((entry) => ({ text: entry.text, link: linkTo(entry.page) })),
  }));

/** Words as people type them: Chinese has no spaces between them. */
function tokenize(text: string): string[] {
  const words = text.split(/[\s\p{P}\p{S}]+/u).filter((word) => word !== "");
  return words.flatMap((word) =>
    /\p{Script=Han}/u.test(word)
      ? [...new Intl.Segmenter("zh", { granularity: "word" }).segment(word)].map(({ segment }) => segment)
      : [word],
  );
}

export default defineConfig({
  title: "etcd operator",
  description: "Runs etcd clusters on Kubernetes.",
  base: process.env["SITE_BASE"] ?? "/",
  srcDir: staged,
  outDir: path.join(root, "dist/site"),
  markdown: {
    languageAlias: { promql: "sql" },
    anchor: { slugify: anchorOf },
    config: (md) => md.use(linksOfTree, { staged, pages }),
  },
  themeConfig: {
    outline: { level: [2, 3] },
    // Few pages are translated: the menu leads to the other language, and pages lead to their translations.
    i18nRouting: false,
    search: {
      provider: "local",
      options: {
        miniSearch: { options: { tokenize } },
        locales: {
          zh: {
            translations: {
              button: { buttonText: "搜索", buttonAriaLabel: "搜索" },
              modal: { noResultsText: "没有结果", footer: { selectText: "选择", navigateText: "切换", closeText: "关闭" } },
            },
          },
        },
      },
    },
  },
  locales: {
    root: {
      label: "English",
      lang: "en",
      themeConfig: {
        nav: [
          { text: "Tasks", link: "/walk-through" },
          { text: "Operate", link: "/production" },
          { text: "Reference", link: "/api" },
          { text: "FAQ", link: "/faq" },
        ],
        sidebar: sidebar(english(runbooks)),
      },
    },
    zh: {
      label: "中文",
      lang: "zh-CN",
      title: "etcd operator",
      description: "在 Kubernetes 上运行 etcd 集群。",
      themeConfig: {
        nav: [
          { text: "概念", link: "/zh/concepts" },
          { text: "上手演练", link: "/zh/walk-through" },
        ],
        sidebar: sidebar(chinese),
        outline: { level: [2, 3], label: "本页内容" },
        docFooter: { prev: "上一页", next: "下一页" },
        darkModeSwitchLabel: "外观",
        sidebarMenuLabel: "目录",
        returnToTopLabel: "回到顶部",
        langMenuLabel: "语言",
      },
    },
  },
  buildEnd: ({ outDir }) => {
    // `runbook_url` of the alerts is the path in the tree: it works behind the address of the site, too.
    for (const page of runbooks) {
      mkdirSync(path.join(outDir, path.dirname(page)), { recursive: true });
      copyFileSync(path.join(root, page), path.join(outDir, page));
    }
  },
});
