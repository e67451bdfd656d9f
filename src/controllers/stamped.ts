// As in etcd-operator 0.9, each condition says when anything of it last changed.
import type { Condition } from "../kube/objects/conditions.ts";
import { secondsTime } from "../kube/objects/objects.ts";

interface StampedCondition extends Condition {
  lastUpdateTime?: string;
}

/** What of `after` is the very condition that was there before keeps its time. */
export function stamped(
  before: readonly StampedCondition[],
  after: readonly StampedCondition[],
  now: Date,
): StampedCondition[] {
  return after.map((one) => (before.includes(one) ? one : { ...one, lastUpdateTime: secondsTime(now) }));
}
