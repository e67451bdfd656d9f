// A member that etcd lists and that has no pod: the reconcile that added it did not come to the pod, or somebody deleted
// it.
import { isPodless, isStarting } from "../../assess/seats.ts";
import { isUndialable } from "../../objects/names.ts";
import type { Decision } from "../actions.ts";
import { listed, pace, type Situation } from "../rule.ts";

export function makeMissingPods({ now, ours }: Situation): Decision | undefined {
  const missing = ours.filter(isPodless);
  const undialable = missing.filter(({ member }) => isUndialable(member));
  const next = undialable.length > 0 ? undialable : missing.slice(0, 1);
  // Those that nobody can dial get in nobody's way.
  if (next.length === 0 || (undialable.length === 0 && ours.some((seat) => isStarting(seat, now)))) return undefined;
  return {
    actions: next.map(({ name }) => ({ do: "createPod", member: name })),
    because: `${listed(next.map(({ name }) => name))} never ran and has no pod`,
    lookAgainAfter: pace.later,
  };
}
