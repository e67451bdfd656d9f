// Waits until an object says what is waited for, and tells meanwhile what it says.
import { isNotFound } from "../kube/client/errors.ts";
import { pause, systemClock } from "../kube/clock.ts";
import type { Key, Kind, KubeObject } from "../kube/objects/objects.ts";
import type { Call, FlagRow } from "./command.ts";
import { UsageError } from "./line/usage-error.ts";
import type { Reach } from "./place/reach.ts";
import { Refusal } from "./place/refusal.ts";

export const waitFlags: readonly FlagRow[] = [
  { name: "wait", what: "Wait until it is done." },
  { name: "timeout", value: "SECONDS", what: "With --wait: the time limit. Default: 600." },
];

const pollEveryMs = 1_000;

export type Verdict =
  | { readonly t: "waits"; readonly says: string }
  | { readonly t: "done" | "failed"; readonly says: string };

/** Gives what it said in the end. Fails with a sentence when it failed, or takes too long. */
export async function until<T extends KubeObject>(
  { flags, screen, signal }: Call,
  { api }: Reach,
  kind: Kind<T>,
  key: Key,
  judge: (object: T) => Verdict,
): Promise<string> {
  const deadline = systemClock.now() + secondsOf(flags.text("timeout")) * 1000;
  let said = "";
  for (;;) {
    const verdict = await api.get(kind, key).then(judge, (error: unknown): Verdict => {
      if (isNotFound(error)) return { t: "failed", says: `The ${kind.kind} ${key.name} was deleted.` };
      throw error;
    });
    if (verdict.t === "done") return verdict.says;
    if (verdict.t === "failed") throw new Refusal(verdict.says);
    if (verdict.says !== said) screen.note(verdict.says);
    said = verdict.says;
    if (systemClock.now() > deadline)
      throw new Refusal(`Timed out; the operator continues: ${said} --timeout=SECONDS waits longer.`);
    await pause(systemClock, pollEveryMs, signal);
    signal.throwIfAborted();
  }
}

function secondsOf(text = "600"): number {
  const seconds = Number(text.replace(/s$/, ""));
  if (!(seconds > 0)) throw new UsageError(`--timeout is a number of seconds, not "${text}".`);
  return seconds;
}
