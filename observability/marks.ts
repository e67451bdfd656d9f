// Replaces a part of a page that is written by hand.

/** The part between the two marks that name it. */
export function withPart(page: string, name: string, part: string): string {
  const begin = `<!-- ${name}: made by \`node observability/generate.ts\`. -->`;
  const end = `<!-- End of ${name.toLowerCase()}. -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The page lacks the marks of a part: ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${part}\n\n${page.slice(to)}`;
}
