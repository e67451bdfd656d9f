// A member that serves on a volume which goes with its pod, because its claim is being deleted or its volume is lost: `grow`
// adds another one first, on a new volume, and then it goes. It heals, so no strategy of updates holds it up.
import { isDoomed, type Seat } from "../../../assess/seats.ts";
import { neighbours } from "../../../assess/spread.ts";
import type { Decision } from "../../actions.ts";
import { stepDown } from "../../hand-over.ts";
import { pace, type Situation } from "../../rule.ts";
import { removeDoomed } from "../../safety.ts";

export function replaceDoomed(situation: Situation): Decision | undefined {
  for (const seat of leaderLast(situation)) {
    const actions = removeDoomed(situation, seat, situation.desired.size);
    if (actions === undefined) continue;
    const handOver = stepDown(situation, seat, "the leader is about to be removed");
    if (handOver.length > 0)
      return { actions: handOver, because: `${seat.name} is about to go`, lookAgainAfter: pace.soon };
    return { actions, because: `${seat.name} goes: another has taken its place`, lookAgainAfter: pace.atOnce };
  }
  return undefined;
}

function leaderLast({ leader, ours }: Situation): readonly Seat[] {
  const rank = ({ member }: Seat): number => (member.id === leader ? 1 : 0);
  const company = (seat: Seat): number => neighbours(seat, ours);
  return ours
    .filter(isDoomed)
    .toSorted((a, b) => rank(a) - rank(b) || company(b) - company(a) || (a.name < b.name ? -1 : 1));
}
