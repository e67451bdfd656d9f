// Pods whose member is not in etcd's list, or not any more: removed by hand, or by a pass that ended before it came to
// the pod.
import { deleteOrphan } from "../safety.ts";
import { type Decision, listed, pace, type Situation } from "../situation.ts";

export function deleteOrphans(situation: Situation): Decision | undefined {
  const { world } = situation;
  // One that answers as a member of another cluster may hold somebody's data: it is reported and left alone.
  const strangers = new Set(world.etcd.t === "quorum" ? world.etcd.strangers.map(({ pod }) => pod) : []);
  const orphans = world.pods.filter(({ name }) => !strangers.has(name));
  const actions = orphans.flatMap((pod) => deleteOrphan(situation, pod));
  if (actions.length === 0) return undefined;
  const names = actions.flatMap((action) => (action.do === "deletePod" ? [action.member] : []));
  return { actions, because: `${listed(names)}: no member of the cluster`, lookAgainAfter: pace.atOnce };
}
