// Where pods and etcd's list differ: a member without a pod, because the reconcile that added it did not come to the pod, or
// somebody deleted it; and a pod without a member, removed by hand, or by a reconcile that ended before it came to the pod.
import { isPodless, isStarting } from "../../assess/instances.ts";
import { isPlaceholder } from "../../objects/names.ts";
import type { ClusterDecision } from "../actions.ts";
import { listed, type Situation } from "../rule.ts";
import { deleteOrphan } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

export function makeMissingPods({ now, ours }: Situation): ClusterDecision | undefined {
  const missing = ours.filter(isPodless);
  const placeholder = missing.filter(({ member }) => isPlaceholder(member));
  const next = placeholder.length > 0 ? placeholder : missing.slice(0, 1);
  // Those that nobody can dial get in nobody's way.
  if (next.length === 0 || (placeholder.length === 0 && ours.some((instance) => isStarting(instance, now))))
    return undefined;
  return {
    actions: next.map(({ name }) => ({ do: "createPod", member: name })),
    because: `${listed(next.map(({ name }) => name))} never ran and has no pod`,
    requeueAfter: delays.later,
  };
}

export function deleteOrphans(situation: Situation): ClusterDecision | undefined {
  const actions = situation.world.pods.flatMap((pod) => deleteOrphan(situation, pod));
  if (actions.length === 0) return undefined;
  const names = actions.flatMap((action) => (action.do === "deletePod" ? [action.member] : []));
  return { actions, because: `${listed(names)}: not a member of the cluster`, requeueAfter: delays.atOnce };
}
