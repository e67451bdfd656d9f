// The result of a job as text. It is never longer than a kubelet takes, and always whole JSON: sentences are cut.
import { longestResult, type Result } from "../job.ts";

export function resultText(result: Result): string {
  const whole = JSON.stringify(result);
  if (fits(whole)) return whole;
  // How long it is as JSON depends on what is in it.
  for (let length = longestResult; length > 0; length = Math.floor(length * 0.8)) {
    const text = JSON.stringify(shortened(result, length));
    if (fits(text)) return text;
  }
  // A backup may have been described by others.
  const message = "What the job has to say is too long for a result: look at what is written beside the backup.";
  return JSON.stringify({ ok: false, code: "failed", message } satisfies Result);
}

const fits = (text: string): boolean => Buffer.byteLength(text) <= longestResult;

function shortened(result: Result, length: number): Result {
  if (!result.ok) return { ...result, message: cut(result.message, length) };
  const { did } = result;
  if (did.do !== "backup") return result;
  const { kept, held } = did;
  const sentences = {
    ...(kept !== undefined && { kept: cut(kept, length) }),
    ...(held !== undefined && { held: cut(held, length) }),
  };
  return { ok: true, did: { ...did, ...sentences } };
}

const cut = (sentence: string, length: number): string =>
  sentence.length <= length ? sentence : `${sentence.slice(0, length).toWellFormed()}…`;
