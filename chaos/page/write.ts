// Writes the page and its pictures from the results of all runs that are there.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { tree } from "../../lab/images/bundle.ts";
import type { RunResult } from "../result.ts";
import { drawnFrom, robustnessPage } from "./page.ts";
import { falseAlarms, found } from "./track-record.ts";

const page = "docs/robustness.md";

/** Returns the paths of what it wrote. */
export async function writePage(results: string): Promise<string[]> {
  const names = (await readdir(results)).filter((name) => name.endsWith(".json")).sort();
  const runs = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(path.join(results, name), "utf8")) as RunResult),
  );
  const files = [
    { path: page, text: robustnessPage(runs, { found, falseAlarms }) },
    ...drawnFrom(runs).map(({ path, svg }) => ({ path, text: svg })),
  ];
  for (const file of files) {
    await mkdir(path.dirname(path.join(tree, file.path)), { recursive: true });
    await writeFile(path.join(tree, file.path), file.text);
  }
  return files.map((file) => file.path);
}
