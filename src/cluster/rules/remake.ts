// The pod of a learner that has never run can be made again at no cost, and must be when it cannot come up as it is:
// started with a list of members that has changed since, or held up by a setting that may be right by now.
import type { Member } from "../../etcd/member.ts";
import type { MemberPod, World } from "../world.ts";
import { deleteUnstarted } from "../safety.ts";
import type { Seat } from "../seats.ts";
import { type Decision, pace, type Situation } from "../situation.ts";

export function remakePods(situation: Situation): Decision | undefined {
  for (const seat of situation.ours) {
    const because = reasonToRemake(seat, situation);
    const actions = because === undefined ? [] : deleteUnstarted(situation, seat, because);
    if (actions.length > 0)
      return { actions, because: `the pod of ${seat.name} is made again: ${because}`, lookAgainAfter: pace.atOnce };
  }
  return undefined;
}

function reasonToRemake({ state, pod }: Seat, { world, seats, now }: Situation): string | undefined {
  if (state.t !== "unstarted") return undefined;
  if (pod === undefined || pod.terminating || pod.state.t === "running") return undefined;
  const members = seats.map(({ member }) => member);
  if (!knowsMembers(pod, members)) return "the list of members that it starts with has changed";
  return isStuck(pod, world, now) ? `it does not start (${problemOf(pod)})` : undefined;
}

/** Whether it would be let in: etcd compares the list that it is started with with its own. */
export function knowsMembers({ joinsWith }: MemberPod, members: readonly Member[]): boolean {
  if (joinsWith === undefined) return true;
  const now = members.flatMap(({ peerUrls }) => peerUrls);
  return joinsWith.length === now.length && now.every((url) => joinsWith.includes(url));
}

/**
 * It cannot start, and would perhaps with what the spec says now: at once when that is another version, else after the
 * time that a crash loop is given, so that a mistake that is corrected does not stay.
 */
export function isStuck(pod: MemberPod, { cluster: { spec } }: World, now: number): boolean {
  if (problemOf(pod) === undefined || pod.state.t === "ended") return false;
  return pod.version !== spec.version || stuckAt(pod, spec.failover.crashLoopAfterSeconds) <= now;
}

export function stuckAt(pod: MemberPod, patienceSeconds: number): number {
  return (pod.state.t === "crashing" ? pod.state.since : pod.createdAt) + patienceSeconds * 1000;
}

export function problemOf({ state }: MemberPod): string | undefined {
  return state.t === "running" ? undefined : state.problem;
}
