// Answers that depend on nothing but a text, kept for when it is asked about again: the same certificates are read in
// each reconcile, and reading one costs far more than finding it. Never used for keys.

/** How many answers are kept; the oldest go first. */
const most = 256;

export function remembered<T>(ask: (...texts: readonly string[]) => T): (...texts: readonly string[]) => T {
  const answers = new Map<string, { readonly answer: T }>();
  return (...texts) => {
    const key = texts.join("\u0000");
    const known = answers.get(key);
    if (known !== undefined) return known.answer;
    const answer = ask(...texts);
    answers.set(key, { answer });
    for (const old of answers.keys()) {
      if (answers.size <= most) break;
      answers.delete(old);
    }
    return answer;
  };
}
