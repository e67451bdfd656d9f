// Colours of a terminal. Text is painted last, after it was cut and aligned, so that widths are counted right.

export type Hue = "good" | "warning" | "bad" | "dim" | "strong";

export type Paint = (hue: Hue, text: string) => string;

const codes: Readonly<Record<Hue, readonly [number, number]>> = {
  good: [32, 39],
  warning: [33, 39],
  bad: [31, 39],
  dim: [2, 22],
  strong: [1, 22],
};

export const inColour: Paint = (hue, text) => {
  const [on, off] = codes[hue];
  return text === "" ? "" : `\u001B[${on}m${text}\u001B[${off}m`;
};

export const plain: Paint = (_, text) => text;
