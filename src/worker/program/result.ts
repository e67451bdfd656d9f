// The result of a job as text. It is never longer than a kubelet takes, and always whole JSON: sentences are cut.
import { longestResult, type Result } from "../job.ts";

export function resultText(result: Result): string {
  const whole = JSON.stringify(result);
  const excess = Buffer.byteLength(whole) - longestResult;
  if (excess <= 0) return whole;
  if (!result.ok) return cut(result.message, (message) => ({ ...result, message }));
  const { did } = result;
  if (did.do === "backup" && did.kept !== undefined)
    return cut(did.kept, (kept) => ({ ok: true, did: { ...did, kept } }));
  throw new RangeError("a result without a sentence is too long");
}

/** Cuts until it fits: how long it is as JSON depends on what is in it. */
function cut(sentence: string, make: (sentence: string) => Result): string {
  for (let length = sentence.length; length > 0; length = Math.floor(length * 0.8)) {
    const text = JSON.stringify(make(`${sentence.slice(0, length).toWellFormed()}…`));
    if (Buffer.byteLength(text) <= longestResult) return text;
  }
  return JSON.stringify(make("…"));
}
