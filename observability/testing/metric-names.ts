// Which metrics an expression of Prometheus names.

const words = new Set("and or unless bool offset by without on ignoring group_left group_right inf nan".split(" "));

/** What is neither text, label, duration, function nor word of the language. */
export function metricNames(expr: string): string[] {
  const bare = expr
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, "")
    .replaceAll(/\{[^}]*\}/g, "")
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, "");
  const names = [...bare.matchAll(/(?<![\w:.])[a-zA-Z_:][\w:]*(?!\w|\s*\()/g)].map(([name]) => name);
  return [...new Set(names.filter((name) => !words.has(name.toLowerCase())))];
}

/** A histogram is named with one of these at its end. */
export const familyOf = (name: string): readonly string[] => [name, name.replace(/_(bucket|sum|count)$/, "")];
