// Reads the text literals of a TypeScript file, so that pages can be made of the sentences that stand in code. An expression
// inside of a template becomes `…`.

export const gap = "…";

/** A slash after one of these begins a regular expression; after a name, a number or a bracket it divides. */
const beforeExpression = /(?:^|[-+*/%=<>!&|^~?:;,([{}]|\b(?:return|typeof|case|in|of))\s*$/;

/** In the order of the file, each with the line that it begins in. */
export function literalsIn(source: string): { text: string; line: number }[] {
  const found: { text: string; line: number }[] = [];
  let at = 0;

  const lineAt = (index: number): number => source.slice(0, index).split("\n").length;
  const startsWith = (text: string): boolean => source.startsWith(text, at);
  const skipTo = (text: string): void => {
    const end = source.indexOf(text, at + text.length);
    at = end < 0 ? source.length : end + text.length;
  };

  function quoted(quote: string): string {
    const begin = at;
    at += 1;
    while (at < source.length && source[at] !== quote) at += source[at] === "\\" ? 2 : 1;
    at += 1;
    return unescaped(source.slice(begin + 1, at - 1));
  }

  function template(): string {
    let text = "";
    let begin = at + 1;
    at += 1;
    while (at < source.length && source[at] !== "`") {
      if (source[at] === "\\") at += 2;
      else if (startsWith("${")) {
        text += unescaped(source.slice(begin, at)) + gap;
        at += 2;
        code("}");
        begin = at;
      } else at += 1;
    }
    text += unescaped(source.slice(begin, at));
    at += 1;
    return text;
  }

  function expression(): void {
    let inClass = false;
    at += 1;
    while (at < source.length && (inClass || source[at] !== "/")) {
      if (source[at] === "[") inClass = true;
      if (source[at] === "]") inClass = false;
      at += source[at] === "\\" ? 2 : 1;
    }
    at += 1;
  }

  /** Up to the bracket that ends it. */
  function code(end: "}" | ""): void {
    let depth = 0;
    while (at < source.length) {
      const begin = at;
      const here = source[at] ?? "";
      if (here === '"' || here === "'") found.push({ text: quoted(here), line: lineAt(begin) });
      else if (here === "`") {
        const before = found.length;
        const text = template();
        found.splice(before, 0, { text, line: lineAt(begin) });
      } else if (startsWith("//")) skipTo("\n");
      else if (startsWith("/*")) skipTo("*/");
      else if (here === "/" && beforeExpression.test(source.slice(Math.max(0, at - 40), at))) expression();
      else {
        at += 1;
        if (here === "{") depth += 1;
        if (here === "}" && depth === 0 && end === "}") return;
        if (here === "}") depth -= 1;
      }
    }
  }

  code("");
  return found;
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\(\r?\n|u\{?([0-9a-fA-F]+)\}?|.)/gs, (_, escape: string, code: string | undefined) => {
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
    return { n: "\n", t: "\t", r: "\r", "\n": "" }[escape] ?? escape;
  });
