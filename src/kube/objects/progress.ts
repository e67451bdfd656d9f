// The conditions that programs wait by (Flux, Helm, everything that uses kstatus): Reconciling while it goes on by itself,
// Stalled where it never does. An object that has neither, and no Ready that is False, counts as done.
export type Progress = "done" | "reconciling" | "stalled";

interface Verdict<Reason> {
  readonly status: "True" | "False";
  readonly reason: Reason;
  readonly message: string;
}

/** Never both: kstatus takes the first that it finds. */
export function progressConditions<Reason extends string>(
  progress: Progress,
  reason: Reason,
  message: string,
): { Reconciling: Verdict<Reason>; Stalled: Verdict<Reason> } {
  const verdict = (holds: boolean): Verdict<Reason> =>
    holds ? { status: "True", reason, message } : { status: "False", reason, message: "" };
  return { Reconciling: verdict(progress === "reconciling"), Stalled: verdict(progress === "stalled") };
}
