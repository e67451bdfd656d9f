// What can be wrong with a certificate that was given, each with a sentence that says what to do. No sentence contains
// anything of a key or a certificate except its dates.

export type ProblemKind =
  | "missing"
  | "incomplete"
  | "unreadable"
  | "mismatched"
  | "untrusted"
  | "expired"
  | "notYetValid"
  | "wrongNames"
  | "wrongUse";

export interface Problem {
  readonly t: ProblemKind;
  /** What is wrong and what to do. It names the keys of the Secret; the caller names the Secret. */
  readonly sentence: string;
}

export function isProblem(result: object): result is Problem {
  return "sentence" in result;
}

/** For sentences: `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}
