// The known word that somebody most likely meant.

/** Undefined when none is near. */
function nearest(word: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, distance: candidate.startsWith(word) ? 1 : distanceBetween(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, Math.floor(candidate.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}

/** As part of a sentence: ` Did you mean status?`, or nothing. */
export function didYouMean(word: string, known: readonly string[], prefix = ""): string {
  const meant = nearest(word, known);
  return meant === undefined ? "" : ` Did you mean ${prefix}${meant}?`;
}

/** How many letters have to be added, taken away or changed. */
function distanceBetween(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, change));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
