// Whether the colours of the page can be read: every pair that carries text has the contrast that WCAG AA asks for.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";

const style = readFileSync(path.join(import.meta.dirname, "page", "style", "colours.css"), "utf8");
const [light = "", dark = ""] = [...style.matchAll(/:root \{([^}]*)\}/g)].map(([, block]) => block ?? "");

function colour(block: string, name: string): readonly number[] {
  const hex = new RegExp(`--${name}: #([0-9a-f]{6});`).exec(block)?.[1];
  assert.ok(hex !== undefined, `there is no colour --${name}`);
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
}

/** As WCAG defines it: from 1 to 21. */
function contrast(a: readonly number[], b: readonly number[]): number {
  const luminance = (rgb: readonly number[]): number => {
    const [red = 0, green = 0, blue = 0] = rgb.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [bright = 0, dim = 0] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return (bright + 0.05) / (dim + 0.05);
}

const texts: readonly (readonly [string, readonly string[]])[] = [
  ["ink", ["ground", "surface", "sunken"]],
  ["soft", ["ground", "surface", "sunken"]],
  ["accent", ["surface", "sunken", "accent-wash"]],
  ["good", ["surface", "good-wash"]],
  ["warning", ["surface", "warning-wash"]],
  ["bad", ["surface", "bad-wash"]],
];

describe("the colours of the page", () => {
  for (const [theme, block] of [
    ["light", light],
    ["dark", dark],
  ] as const)
    for (const [text, grounds] of texts)
      test(`${text} can be read in the ${theme}`, () => {
        for (const ground of grounds) {
          const ratio = contrast(colour(block, text), colour(block, ground));
          assert.ok(ratio >= 4.5, `${text} on ${ground}: ${ratio.toFixed(2)}`);
        }
      });
});
