// Fewer members than asked for: new ones join as learners, which cost the quorum nothing while they start, or as voters
// where etcd knows no learners. One starts at a time: before it serves, etcd waits until the name of every member in its
// list resolves and then asks each for its version. One that is listed and does not run holds up the others for 30 s,
// and two that start together wait for each other until both have asked in vain, twice for 7 s.
import { has, learnersAtOnce } from "../../etcd/versions/features.ts";
import type { MemberName } from "../actions.ts";
import { mostLearners } from "../flags-of-etcd.ts";
import { newMemberName } from "../names.ts";
import { mayAdd } from "../safety.ts";
import { type Decision, pace, type Situation } from "../situation.ts";
import type { MemberPod } from "../world.ts";
import { problemOf } from "./remake.ts";

/** Milliseconds since a pod was made after which its silence is no start any more. */
const patience = 60_000;

/** Before anybody is promoted: after each promotion etcd takes no new members for 5 s. */
export function growBeforePromotions(situation: Situation): Decision | undefined {
  return situation.voters.length === 1 || situation.learners.length > 0 ? grow(situation) : undefined;
}

export function grow(situation: Situation): Decision | undefined {
  const { ours, seats, version, world } = situation;
  const { size } = world.cluster.spec;
  const missing = size - ours.length;
  const as = has(version, "learners") ? "learner" : "voter";
  const room = as === "learner" ? learnersAtOnce(version, mostLearners) - situation.learners.length : 1;
  if (missing <= 0 || room <= 0 || isOneStarting(situation)) return undefined;
  const waits = as === "voter" && !ours.every(({ state }) => state.t === "healthy");
  if (waits || !mayAdd(seats, version)) return undefined;

  const member = newName(situation);
  return {
    actions: [
      { do: "addMember", member, as },
      { do: "createPod", member },
    ],
    because: `${member} joins: ${ours.length} of ${size} members are there`,
    lookAgainAfter: pace.untilAccepted,
  };
}

/**
 * A member that never ran is about to. One that is held up is not waited for: it has no process that the others could
 * get in the way of, or none that will be of use.
 */
export function isOneStarting({ ours, now }: Situation): boolean {
  return ours.some(({ state, pod }) => state.t === "unstarted" && pod !== undefined && isComing(pod, now));
}

/** The same, of one that will run in a moment. */
export function isOneAboutToServe({ ours, now }: Situation): boolean {
  const soon = (pod: MemberPod): boolean => isComing(pod, now) && now - pod.createdAt < patience;
  return ours.some(({ state, pod }) => state.t === "unstarted" && pod !== undefined && soon(pod));
}

function isComing(pod: MemberPod, now: number): boolean {
  if (pod.terminating || problemOf(pod) !== undefined) return false;
  return pod.state.t !== "running" || now - pod.createdAt < patience;
}

/** A member that etcd lists and that has no pod: the pass that added it did not come to the pod, or somebody deleted it. */
export function makeMissingPods(situation: Situation): Decision | undefined {
  const next = situation.ours.find(({ state, pod }) => state.t === "unstarted" && pod === undefined);
  if (next === undefined || isOneStarting(situation)) return undefined;
  return {
    actions: [{ do: "createPod", member: next.name }],
    because: `${next.name} is a member that never ran, without a pod`,
    lookAgainAfter: pace.later,
  };
}

function newName({ seats, world, random }: Situation): MemberName {
  const taken = new Set([...seats.map(({ name }) => name), ...world.pods.map(({ name }) => name)]);
  return newMemberName(world.cluster, taken, random);
}
