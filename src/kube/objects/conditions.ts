// Conditions of a status: merged by type, with a transition time that moves only when the status itself does.
import { isTime, secondsTime } from "./objects.ts";
import { printableLine } from "./printable.ts";

export type ConditionStatus = "True" | "False" | "Unknown";

/** `metav1.Condition`. */
export interface Condition {
  type: string;
  status: ConditionStatus;
  /** One CamelCase word for programs. */
  reason: string;
  /** One sentence for people. */
  message: string;
  lastTransitionTime: string;
  /** The `metadata.generation` that this was concluded from. */
  observedGeneration?: number;
}

/** A condition without its transition time, which `withConditions` sets. */
export type Conclusion = Omit<Condition, "lastTransitionTime">;

// The API server refuses a longer one, and with it the whole status.
const longestMessage = 32_768;

/**
 * The conditions with the conclusions merged in: known types keep their place, new ones go to the end. When nothing
 * differs the very same array comes back, so that `===` shows whether there is anything to write. One whose transition time
 * is none, which somebody else wrote, gets the present: the API server refuses it, and with it the whole status.
 */
export function withConditions(
  present: readonly Condition[] | undefined,
  conclusions: readonly Conclusion[],
  now: Date,
): readonly Condition[] {
  let merged = mended(present ?? [], now);
  for (const conclusion of conclusions) merged = merge(merged, conclusion, now);
  return merged;
}

function mended(conditions: readonly Condition[], now: Date): readonly Condition[] {
  if (conditions.every(({ lastTransitionTime }) => isTime(lastTransitionTime))) return conditions;
  return conditions.map((one) =>
    isTime(one.lastTransitionTime) ? one : { ...one, lastTransitionTime: secondsTime(now) },
  );
}

function merge(conditions: readonly Condition[], conclusion: Conclusion, now: Date): readonly Condition[] {
  const message = printableLine(conclusion.message.slice(0, longestMessage));
  const old = findCondition(conditions, conclusion.type);
  if (old === undefined) return [...conditions, { ...conclusion, message, lastTransitionTime: secondsTime(now) }];
  const same =
    old.status === conclusion.status &&
    old.reason === conclusion.reason &&
    old.message === message &&
    old.observedGeneration === conclusion.observedGeneration;
  if (same) return conditions;
  const lastTransitionTime = old.status === conclusion.status ? old.lastTransitionTime : secondsTime(now);
  return conditions.map((condition) =>
    condition === old ? { ...conclusion, message, lastTransitionTime } : condition,
  );
}

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}
