// A learner that has caught up becomes a voter. What members answer says which one is worth trying; etcd, which knows
// better, may still refuse.
import { isYoung } from "../../assess/pods.ts";
import { indexOf, isAboutToServe, isHealthy, quorum, type Instance } from "../../assess/instances.ts";
import { closeBy } from "../../assess/standing.ts";
import { mayListChange } from "../../assess/together.ts";
import { isPlaceholder } from "../../objects/names.ts";
import type { ClusterAction, ClusterDecision } from "../actions.ts";
import { listed, type Situation } from "../rule.ts";
import { delays } from "../../../controllers/delays.ts";

export function promoteLearners(situation: Situation): ClusterDecision | undefined {
  // The next ones could not be added for 5 s after it, and a lone voter has nothing to gain from a second: of two, none
  // may fail.
  const { learners, now, ours, voters } = situation;
  if (voters.length === 1 && ours.some((instance) => isAboutToServe(instance, now))) return undefined;
  const ready = learners
    .filter((instance) => isCaughtUp(instance, situation) || isWorthTrying(instance, situation))
    .toSorted((a, b) => indexOf(b) - indexOf(a));
  if (ready.length === 0) return undefined;
  return {
    actions: ready.flatMap(promotion),
    because: `${listed(ready.map(({ name }) => name))} caught up and can vote`,
    requeueAfter: delays.soon,
  };
}

/** Each with its address before the next: of two voters that nobody can dial, neither could find the other. */
function promotion({ member, name }: Instance): readonly ClusterAction[] {
  const promote: ClusterAction = { do: "promote", id: member.id, member: name };
  if (!isPlaceholder(member)) return [promote];
  return [promote, { do: "updatePeerUrl", id: member.id, member: name, because: "it has joined" }];
}

/**
 * etcd is content with nine tenths of the log, which may leave a large part of a long one.
 *
 * Promoting one that answers costs nothing: 2 healthy of 2 become 3 of 3, and even 2 of 3 become 3 of 4 ≥ quorum(4) = 3.
 */
function isCaughtUp(learner: Instance, situation: Situation): boolean {
  if (learner.state.t !== "learning" || (isPlaceholder(learner.member) && !mayListChange(situation))) return false;
  const furthest = Math.max(...situation.instances.filter(({ alive }) => alive).map(indexOf));
  return indexOf(learner) >= furthest * 0.9 && furthest - indexOf(learner) <= closeBy;
}

/**
 * One that got its data as a snapshot answers nobody for another 7 s: so long it waits to hear its own name, which was in
 * the snapshot. The leader knows how far it is, so etcd's word is enough, where it is not needed to decide: 2 healthy of
 * 2 are still 2 of 3 if it never comes up, and 2 ≥ quorum(3) = 2. A lone voter waits: 1 < quorum(2) = 2.
 */
function isWorthTrying({ member, pod, state }: Instance, { now, voters }: Situation): boolean {
  if (state.t !== "away" || member.name === "" || isPlaceholder(member)) return false;
  if (pod?.state.t !== "running" || pod.terminating || pod.node.t !== "ready") return false;
  // One that takes a minute to get its data may as well answer first: etcd is not asked ten times a second for that long.
  if (!isYoung(pod, now)) return false;
  return voters.filter(isHealthy).length >= quorum(voters.length + 1);
}
