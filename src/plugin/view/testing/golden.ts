// The screens of all scenes as texts, at two widths and in colour, and where they are kept: `node golden.ts` writes them
// after an intended change. Review the difference before you commit it.
import { readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { inColour, plain } from "../../screen/colour.ts";
import { clusterText } from "../cluster-text.ts";
import { viewOf } from "../cluster-view.ts";
import { scenes } from "./scenes.ts";

const layouts = [
  ["80 columns", { columns: 80, paint: plain }],
  ["200 columns", { columns: 200, paint: plain }],
  ["80 columns, in colour", { columns: 80, paint: inColour }],
] as const;

/** Colours as ‹31›…, so that a diff shows them. */
const visible = (text: string): string =>
  text
    .split("\u001B[")
    .map((part, at) => (at === 0 ? part : part.replace(/^(\d+)m/, "‹$1›")))
    .join("");

export function screenOfScene(name: string): string {
  const observed = scenes[name];
  if (observed === undefined) throw new RangeError(`there is no scene ${name}`);
  const view = viewOf(observed);
  return layouts.map(([title, layout]) => `=== ${title}\n${visible(clusterText(view, layout))}\n`).join("\n");
}

const fileOf = (name: string): string => path.join(import.meta.dirname, "golden", `${name}.txt`);

export const kept = (name: string): string => readFileSync(fileOf(name), "utf8");

/** As a terminal of 80 columns shows it, for the manual. */
export function keptIn80Columns(name: string): string {
  const [, screen] = /^=== 80 columns\n([^]*?)\n\n===/.exec(kept(name)) ?? [];
  if (screen === undefined) throw new RangeError(`the screen ${name} has no part for 80 columns`);
  return screen.trimEnd();
}

if (import.meta.main) for (const name of Object.keys(scenes)) writeFileSync(fileOf(name), screenOfScene(name));
