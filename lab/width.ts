// Text that fits the lines of a terminal: cut off at the end of a line, or wrapped at its spaces.

/** A text that is too long ends in an ellipsis. */
export function clipped(text: string, width: number): string {
  if (text.length <= width) return text;
  return width < 1 ? "" : `${text.slice(0, width - 1)}…`;
}

/** Wrapped at spaces; a word that is longer than a line is cut. Spaces inside of a line stay. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > Math.max(width, 1)) {
    const space = rest.lastIndexOf(" ", width);
    const at = space > 0 ? space : Math.max(width, 1);
    lines.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(at).trimStart();
  }
  return [...lines, rest];
}
