// Fewer members than asked for: new ones join as learners, which cost the quorum nothing while they start, or as voters
// where etcd knows no learners. All that are missing join together where that is possible, else one after the other.
import { has, learnersAdmitted } from "../../../etcd/versions/features.ts";
import type { MemberName } from "../actions.ts";
import { mostLearners } from "../../objects/etcd-command.ts";
import { isUndialable, newMemberName } from "../../objects/names.ts";
import { mayAdd } from "../safety.ts";
import type { Seat } from "../seats.ts";
import { type Decision, listed, pace, type Situation } from "../situation.ts";
import { isStarting } from "./starting.ts";
import { mayStartTogether } from "./together.ts";

/** Before anybody is promoted: after each promotion etcd takes no new members for 5 s. */
export function growBeforePromotions(situation: Situation): Decision | undefined {
  return situation.voters.length === 1 || situation.learners.length > 0 ? grow(situation) : undefined;
}

export function grow(situation: Situation): Decision | undefined {
  const { now, ours, seats, version, world } = situation;
  const { size } = world.cluster.spec;
  const missing = size - ours.length;
  const as = has(version, "learners") ? "learner" : "voter";
  const room = as === "learner" ? learnersAdmitted(version, mostLearners) - situation.learners.length : 1;
  if (missing <= 0 || room <= 0) return undefined;
  if (ours.some((seat) => isStarting(seat, now) || isOwedPod(seat))) return undefined;
  const waits = as === "voter" && !ours.every(({ state }) => state.t === "healthy");
  if (waits || !mayAdd(seats, version)) return undefined;

  const together = mayStartTogether(situation);
  const joining = newNames(situation, together ? Math.min(missing, room) : 1);
  const starting = [...(together ? podless(situation).map(({ name }) => name) : []), ...joining];
  const undialable = starting.length > 1 ? ({ undialable: true } as const) : {};
  return {
    actions: [
      ...joining.map((member) => ({ do: "addMember", member, as, ...undialable }) as const),
      ...starting.map((member) => ({ do: "createPod", member }) as const),
    ],
    because: `${listed(joining)} ${joining.length === 1 ? "joins" : "join"}: ${ours.length} of ${size} members are there`,
    lookAgainAfter: pace.untilAccepted,
  };
}

/** A member that etcd lists and that has no pod: the pass that added it did not come to the pod, or somebody deleted it. */
export function makeMissingPods(situation: Situation): Decision | undefined {
  const { now, ours } = situation;
  const missing = podless(situation);
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

/**
 * It never ran and has no pod, or one that goes. It gets another one first: whoever starts with it in its list would look
 * it up in vain, and wait for it as long as it waits for its turn.
 */
const isOwedPod = ({ member, pod, state }: Seat): boolean =>
  state.t === "unstarted" && !isUndialable(member) && (pod === undefined || pod.terminating);

const podless = ({ ours }: Situation): readonly Seat[] =>
  ours.filter(({ state, pod }) => state.t === "unstarted" && pod === undefined);

function newNames({ seats, world, random }: Situation, count: number): readonly MemberName[] {
  const taken = new Set([...seats.map(({ name }) => name), ...world.pods.map(({ name }) => name)]);
  return Array.from({ length: count }, () => {
    const name = newMemberName(world.cluster, taken, random);
    taken.add(name);
    return name;
  });
}
