// More members than asked for: learners go first, then those that something speaks against (assess/standing.ts), then those
// that would have to be changed, then those that share a node, then the newest. A leader that nothing speaks against goes
// last, and so never: there is always another as long as there are too many.
import { isHealthy, isVoter, type Instance } from "../../assess/instances.ts";
import { neighbours, weightOfFlaws } from "../../assess/standing.ts";
import type { ClusterDecision } from "../actions.ts";
import { stepDown } from "../hand-over.ts";
import { listed, type Situation } from "../rule.ts";
import { removeGone, removeHealthy } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

export function shrink(situation: Situation): ClusterDecision | undefined {
  const { desired, ours } = situation;
  const surplus = ours.length - desired.withSurge;
  if (surplus <= 0) return undefined;
  const because = `the cluster is to have ${desired.size} of its ${ours.length} members`;
  const order = leastMissedFirst(situation);

  // Learners decide nothing, so any number of them can go together.
  const learners = order.filter((instance) => !isVoter(instance)).slice(0, surplus);
  const goingLearners = learners.flatMap((instance) => removeGone(situation, instance, because) ?? []);
  if (goingLearners.length > 0)
    return {
      actions: goingLearners,
      because: `${listed(learners.map(({ name }) => name))} go: ${because}`,
      requeueAfter: delays.atOnce,
    };

  for (const instance of order) {
    const remove = isHealthy(instance) ? removeHealthy : removeGone;
    const actions = remove(situation, instance, because);
    if (actions === undefined) continue;
    const handOver = stepDown(situation, instance, "the leader is about to be removed");
    if (handOver.length > 0)
      return { actions: handOver, because: `${instance.name} is about to go`, requeueAfter: delays.soon };
    return { actions, because: `${instance.name} goes: ${because}`, requeueAfter: delays.atOnce };
  }
  return { actions: [], because: `${because}, and none can be spared now`, requeueAfter: delays.later };
}

function leastMissedFirst({ instances, ours, leader, roll }: Situation): readonly Instance[] {
  const isToBeChanged = (instance: Instance): boolean => roll.changes.some((change) => change.instance === instance);
  const flaws = (instance: Instance): number => weightOfFlaws(instance, instances);
  const rank = (instance: Instance): number => {
    if (instance.member.id === leader) return 2;
    return isToBeChanged(instance) ? 0 : 1;
  };
  const age = ({ pod }: Instance): number => pod?.createdAt ?? Number.POSITIVE_INFINITY;
  const company = (instance: Instance): number => neighbours(instance, ours);
  const removable = ours.filter(({ state }) => state.t !== "stranger");
  return removable.toSorted(
    (a, b) =>
      flaws(b) - flaws(a) ||
      rank(a) - rank(b) ||
      company(b) - company(a) ||
      age(b) - age(a) ||
      (a.name < b.name ? 1 : -1),
  );
}
