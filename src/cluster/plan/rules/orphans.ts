// Pods whose member is not in etcd's list, or not any more: removed by hand, or by a reconcile that ended before it came
// to the pod.
import type { Decision } from "../actions.ts";
import { listed, pace, type Situation } from "../rule.ts";
import { deleteOrphan } from "../safety.ts";

export function deleteOrphans(situation: Situation): Decision | undefined {
  const actions = situation.world.pods.flatMap((pod) => deleteOrphan(situation, pod));
  if (actions.length === 0) return undefined;
  const names = actions.flatMap((action) => (action.do === "deletePod" ? [action.member] : []));
  return { actions, because: `${listed(names)}: not a member of the cluster`, lookAgainAfter: pace.atOnce };
}
