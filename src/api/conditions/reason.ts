// What is known of one reason of a condition: what it means, to people and to programs that wait, how bad it is, and which
// event and runbook go with it. A row is made by what the reason means.
import type { EventName } from "../events.ts";

/** For programs that wait, such as Argo CD, Flux and Helm. */
export type Meaning =
  /** It is as it should be: nothing to wait for. */
  | "settled"
  /** It goes on by itself. */
  | "progressing"
  /** It waits, as somebody asked it to. */
  | "suspended"
  /** A person should check. The operator continues once what it waits for is available. */
  | "degraded"
  /** A person has to act: it never goes on by itself. */
  | "stalled";

/** How bad it is: the doctor, the colours of the terminal and those of the dashboard go by it. */
export type Severity = "good" | "warning" | "bad";

export interface ConditionReason {
  /** When the operator gives it, in a sentence. */
  readonly when: string;
  /** What a person should do, in a sentence. Absent where nothing has to be done. */
  readonly whatToDo?: string;
  readonly meaning: Meaning;
  readonly severity: Severity;
  /** Recorded when the condition gets this reason, with the type that the event has. Absent: it is worth none. */
  readonly event?: EventName;
  /** The alert that tells of it, whose runbook says what to do. */
  readonly runbook?: string;
  /** An EtcdRestore that replaces the data takes it away. */
  readonly endsWithARestore?: true;
}

export type Reasons = Readonly<Record<string, ConditionReason>>;

export interface ConditionType {
  /** Completes "It is True when …". */
  readonly trueWhen: string;
  /** Where it is not always there. */
  readonly present?: string;
  /** The reasons of the condition when it is True and when it is False; `as`: those of another condition of the same kind. */
  readonly reasons: { readonly True: Reasons; readonly False: Reasons } | { readonly as: string };
}

type Row = Omit<ConditionReason, "meaning" | "severity"> & { readonly severity?: Severity };
type RowWithAdvice = Row & { readonly whatToDo: string };

export const settled = (row: Row): ConditionReason => ({ meaning: "settled", severity: "good", ...row });
export const progressing = (row: Row): ConditionReason => ({ meaning: "progressing", severity: "warning", ...row });
export const suspended = (row: Row): ConditionReason => ({ meaning: "suspended", severity: "warning", ...row });
export const degraded = (row: RowWithAdvice): ConditionReason => ({ meaning: "degraded", severity: "bad", ...row });
export const stalled = (row: RowWithAdvice): ConditionReason => ({ meaning: "stalled", severity: "bad", ...row });

/** Keeps the names of the conditions and of their reasons as types. */
export const conditionsOf = <const Types extends Readonly<Record<string, ConditionType>>>(types: Types): Types => types;
