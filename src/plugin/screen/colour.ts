// Colours of a terminal. Text is painted last, after it was cut and aligned, so that widths are counted right.
import { printable } from "../../kube/objects/printable.ts";

export type Hue = "good" | "warning" | "bad" | "dim" | "strong";

export type Paint = (hue: Hue, text: string) => string;

const codes: Readonly<Record<Hue, readonly [number, number]>> = {
  good: [32, 39],
  warning: [33, 39],
  bad: [31, 39],
  dim: [2, 22],
  strong: [1, 22],
};

const ownCodes = new RegExp(`(\\u001B\\[(?:${[...new Set(Object.values(codes).flat())].join("|")})m)`);

/** What is painted keeps its colours; else no character goes to a terminal that it obeys. */
export const keepingColours = (text: string): string =>
  text
    .split(ownCodes)
    .map((part, at) => (at % 2 === 1 ? part : printable(part)))
    .join("");

export const inColour: Paint = (hue, text) => {
  const [on, off] = codes[hue];
  return text === "" ? "" : `\u001B[${on}m${text}\u001B[${off}m`;
};

export const plain: Paint = (_, text) => text;
