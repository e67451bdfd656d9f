// Fewer members than asked for: new ones join as learners, which cost the quorum nothing while they start; where etcd
// knows no learners, as voters, one by one. Their pods are made after all of them are listed, because each is started
// with the whole list.
import { has, learnersAtOnce } from "../../etcd/versions/features.ts";
import type { Action, MemberName } from "../actions.ts";
import { mostLearners } from "../flags-of-etcd.ts";
import { newMemberName } from "../names.ts";
import { mayAdd } from "../safety.ts";
import { type Decision, listed, pace, type Situation } from "../situation.ts";

/**
 * Before anybody is promoted: etcd takes new members at once only while there is a single voter, and after each
 * promotion not for 5 s.
 */
export function growLoneVoter(situation: Situation): Decision | undefined {
  return situation.voters.length === 1 ? grow(situation) : undefined;
}

export function grow(situation: Situation): Decision | undefined {
  const { ours, seats, version, world } = situation;
  const { size } = world.cluster.spec;
  const missing = size - ours.length;
  const as = has(version, "learners") ? "learner" : "voter";
  const room = as === "learner" ? learnersAtOnce(version, mostLearners) - situation.learners.length : 1;
  const count = Math.min(missing, room);
  if (count <= 0) return undefined;
  const waits = as === "voter" && !ours.every(({ state }) => state.t === "healthy");
  if (waits || !mayAdd(seats, version)) return undefined;

  const names = newNames(situation, count);
  const adds = names.map((member): Action => ({ do: "addMember", member, as }));
  const pods = names.map((member): Action => ({ do: "createPod", member }));
  return {
    actions: [...adds, ...pods],
    because: `${listed(names)} join: ${ours.length} of ${size} members are there`,
    lookAgainAfter: pace.untilAccepted,
  };
}

/** A member that etcd lists and that has no pod: the pass that added it did not come to the pod, or somebody deleted it. */
export function makeMissingPods({ ours }: Situation): Decision | undefined {
  const without = ours.filter(({ state, pod }) => state.t === "unstarted" && pod === undefined);
  if (without.length === 0) return undefined;
  const names = without.map(({ name }) => name);
  return {
    actions: names.map((member) => ({ do: "createPod", member })),
    because: `${listed(names)}: members without a pod that never ran`,
  };
}

function newNames({ seats, world, random }: Situation, count: number): readonly MemberName[] {
  const taken = new Set([...seats.map(({ name }) => name), ...world.pods.map(({ name }) => name)]);
  const names: MemberName[] = [];
  while (names.length < count) {
    const name = newMemberName(world.cluster, taken, random);
    taken.add(name);
    names.push(name);
  }
  return names;
}
