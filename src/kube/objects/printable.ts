// Text that others wrote, as it may be printed: a terminal obeys control characters, and some characters hide what stands
// there. Each of them becomes a mark that is seen, so that nothing vanishes. kubectl prints conditions and events as they are.

/**
 * Controls with ESC, DEL and the 8-bit ones; formats, as those that turn the direction of writing or have no width; separators
 * of lines; halves of a pair, which no UTF-8 has.
 */
const obeyed = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const mark = "\u{FFFD}";

/** Lines and tabs stay. */
export const printable = (text: string): string =>
  text.replaceAll("\r\n", "\n").replace(obeyed, (found) => (found === "\n" || found === "\t" ? found : mark));

const endsOfLines = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;

/** In one line: a message with an end of line would look like two. */
export const printableLine = (text: string): string => printable(text.replace(endsOfLines, " "));

/** For JSON in one line. `JSON.stringify` escapes ESC and ends of lines alone; here nothing is lost either. */
export const escapedJson = (json: string): string =>
  json.replace(obeyed, (found) =>
    found
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );

/** All texts in a value that is like JSON, names of fields included. */
export function printableValue<T>(value: T): T {
  // Only texts change, and each into a text: the type stays.
  return cleaned(value) as T;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return printable(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [printable(name), cleaned(field)]));
}
