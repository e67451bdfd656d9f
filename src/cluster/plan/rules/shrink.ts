// More members than asked for: learners and members that serve nobody go first, then those whose volumes go, then those
// that would have to be changed, then those that share a node, then the newest. The leader goes last, and so never: there is always another as long as there
// are too many.
import { isDoomed, isHealthy, isVoter, type Seat } from "../../assess/seats.ts";
import { neighbours } from "../../assess/spread.ts";
import type { Decision } from "../actions.ts";
import { listed, pace, type Situation } from "../rule.ts";
import { removeGone, removeHealthy } from "../safety.ts";

export function shrink(situation: Situation): Decision | undefined {
  const { desired, ours } = situation;
  const surplus = ours.length - desired.withSurge;
  if (surplus <= 0) return undefined;
  const because = `the cluster is to have ${desired.size} of its ${ours.length} members`;
  const order = leastMissedFirst(situation);

  // Learners decide nothing, so any number of them can go together.
  const learners = order.filter((seat) => !isVoter(seat)).slice(0, surplus);
  const goingLearners = learners.flatMap((seat) => removeGone(situation, seat, because) ?? []);
  if (goingLearners.length > 0)
    return {
      actions: goingLearners,
      because: `${listed(learners.map(({ name }) => name))} go: ${because}`,
      lookAgainAfter: pace.atOnce,
    };

  for (const seat of order) {
    const remove = isHealthy(seat) ? removeHealthy : removeGone;
    const actions = remove(situation, seat, because);
    if (actions !== undefined)
      return { actions, because: `${seat.name} goes: ${because}`, lookAgainAfter: pace.atOnce };
  }
  return { actions: [], because: `${because}, and none can be spared now`, lookAgainAfter: pace.later };
}

function leastMissedFirst({ ours, leader, roll }: Situation): readonly Seat[] {
  const isToBeChanged = (seat: Seat): boolean => roll.changes.some((change) => change.seat === seat);
  const rank = (seat: Seat): number => {
    if (!isHealthy(seat)) return 1;
    if (seat.member.id === leader) return 5;
    if (isDoomed(seat)) return 2;
    return isToBeChanged(seat) ? 3 : 4;
  };
  const age = ({ pod }: Seat): number => pod?.createdAt ?? Number.POSITIVE_INFINITY;
  const company = (seat: Seat): number => neighbours(seat, ours);
  const removable = ours.filter(({ state }) => state.t !== "stranger");
  return removable.toSorted(
    (a, b) => rank(a) - rank(b) || company(b) - company(a) || age(b) - age(a) || (a.name < b.name ? 1 : -1),
  );
}
