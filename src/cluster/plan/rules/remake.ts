// The pod of a learner that has never run can be made again at no cost, and must be when it cannot come up as it is:
// started with a list of members that has changed since, or held up by a setting that may be corrected by now.
import { isOutdatedAndUnheard, isStuck, knowsMembers, problemOf } from "../../assess/pods.ts";
import { volumeLossOf } from "../../assess/claims.ts";
import type { Instance } from "../../assess/instances.ts";
import type { ClusterDecision } from "../actions.ts";
import type { Situation } from "../rule.ts";
import { deleteUnstarted } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

export function remakePods(situation: Situation): ClusterDecision | undefined {
  for (const instance of situation.ours) {
    const because = reasonToRemake(instance, situation);
    const actions = because === undefined ? [] : deleteUnstarted(situation, instance, because);
    if (actions.length > 0)
      return { actions, because: `the pod of ${instance.name} is made again: ${because}`, requeueAfter: delays.atOnce };
  }
  return undefined;
}

function reasonToRemake(
  { claim, state, pod }: Instance,
  { world, desired, instances, now }: Situation,
): string | undefined {
  if (state.t !== "unstarted") return undefined;
  if (pod === undefined || pod.terminating) return undefined;
  if (pod.hasVolume && volumeLossOf(claim) !== undefined) return volumeLossOf(claim);
  if (isOutdatedAndUnheard(pod, desired)) return "it has not answered, and its settings have changed";
  if (pod.state.t === "running") return undefined;
  const members = instances.map(({ member }) => member);
  if (!knowsMembers(pod, members)) return "the list of members that it starts with has changed";
  return isStuck(pod, world, desired, now) ? `it does not start (${problemOf(pod)})` : undefined;
}
