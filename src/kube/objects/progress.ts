// The conditions that programs wait by (Flux, Helm, everything that uses kstatus): Reconciling while it goes on by itself,
// Stalled where it never does. An object that has neither, and no Ready that is False, counts as done.
import type { Conclusion } from "./conditions.ts";

export type Progress = "done" | "reconciling" | "stalled";

type Verdict = Pick<Conclusion, "status" | "reason" | "message">;

/** Never both: kstatus takes the first that it finds. */
export function progressConditions(
  progress: Progress,
  reason: string,
  message: string,
): { Reconciling: Verdict; Stalled: Verdict } {
  const verdict = (holds: boolean): Verdict =>
    holds ? { status: "True", reason, message } : { status: "False", reason, message: "" };
  return { Reconciling: verdict(progress === "reconciling"), Stalled: verdict(progress === "stalled") };
}
