// A member that serves on a volume which goes with its pod, because its claim is being deleted or its volume is lost: `grow`
// adds another one first, on a new volume, and then it goes. It heals, so no strategy of updates holds it up.
import { isDoomed, type Instance } from "../../../assess/instances.ts";
import { neighbours, weightOfFlaws } from "../../../assess/standing.ts";
import type { ClusterDecision } from "../../actions.ts";
import { stepDown } from "../../hand-over.ts";
import type { Situation } from "../../rule.ts";
import { removeDoomed } from "../../safety.ts";
import { delays } from "../../../../controllers/delays.ts";

export function replaceDoomed(situation: Situation): ClusterDecision | undefined {
  for (const instance of leaderLast(situation)) {
    const actions = removeDoomed(situation, instance, situation.desired.size);
    if (actions === undefined) continue;
    const handOver = stepDown(situation, instance, "the leader is about to be removed");
    if (handOver.length > 0)
      return { actions: handOver, because: `${instance.name} is about to go`, requeueAfter: delays.soon };
    return { actions, because: `${instance.name} goes: another has taken its place`, requeueAfter: delays.atOnce };
  }
  return undefined;
}

function leaderLast({ leader, ours }: Situation): readonly Instance[] {
  const rank = ({ member }: Instance): number => (member.id === leader ? 1 : 0);
  const flaws = (instance: Instance): number => weightOfFlaws(instance, ours);
  const company = (instance: Instance): number => neighbours(instance, ours);
  return ours
    .filter(isDoomed)
    .toSorted(
      (a, b) => rank(a) - rank(b) || flaws(b) - flaws(a) || company(b) - company(a) || (a.name < b.name ? -1 : 1),
    );
}
