// The files of the dashboard's page as texts, for the bundle of the plugin: one script, one style sheet, no white space.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { build } from "esbuild";
import type { PageTexts } from "../../src/plugin/dashboard/page-texts.ts";

const folder = path.resolve(import.meta.dirname, "..", "..", "src", "plugin", "dashboard", "page");

export async function pageTexts(): Promise<PageTexts> {
  const [html, icon, script, style] = await Promise.all([
    readFile(path.join(folder, "index.html"), "utf8"),
    readFile(path.join(folder, "icon.svg"), "utf8"),
    built("main.ts"),
    built("style.css"),
  ]);
  return { html, icon, script, style };
}

async function built(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path.join(folder, entry)],
    bundle: true,
    minify: true,
    platform: "browser",
    // Browsers of the last years, all of which send Sec-Fetch-Site.
    target: ["es2022", "chrome111", "firefox113", "safari16.4"],
    format: "esm",
    legalComments: "none",
    logLevel: "warning",
    write: false,
  });
  return outputFiles.map(({ text }) => text).join("");
}
