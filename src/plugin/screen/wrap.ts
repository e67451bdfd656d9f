// Text that fits into a width: a label, and its sentence beside it in as many lines as it takes.

/** Broken between words; a word that is longer than the width stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter((part) => part !== "")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  if (line !== "") lines.push(line);
  return lines;
}

/** `- ` and the text, indented beside it. */
export function item(text: string, width: number, mark = "- "): string[] {
  return wrapped(text, width - mark.length).map((line, at) => `${at === 0 ? mark : " ".repeat(mark.length)}${line}`);
}
