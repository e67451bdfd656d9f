// The pod of a learner that has never run can be made again at no cost, and must be when it cannot come up as it is:
// started with a list of members that has changed since, or held up by a setting that may be right by now.
import type { Member } from "../../../etcd/member.ts";
import type { MemberPod, World } from "../../observe/world.ts";
import { deleteUnstarted } from "../safety.ts";
import type { Seat } from "../seats.ts";
import { settingsOf } from "../../objects/settings.ts";
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
  if (pod === undefined || pod.terminating) return undefined;
  if (isOutdatedAndUnheard(pod, world)) return "it has not answered, and its settings have changed";
  if (pod.state.t === "running") return undefined;
  const members = seats.map(({ member }) => member);
  if (!knowsMembers(pod, members)) return "the list of members that it starts with has changed";
  return isStuck(pod, world, now) ? `it does not start (${problemOf(pod)})` : undefined;
}

/** It runs, nobody has been served by it, and the settings that may be why have been changed since. */
export function isOutdatedAndUnheard(pod: MemberPod, world: World): boolean {
  return pod.state.t === "running" && pod.state.unheard === true && hasOtherSettings(pod, world);
}

/** Whether it would be let in: etcd compares the list that it is started with with its own. */
export function knowsMembers({ joinsWith }: MemberPod, members: readonly Member[]): boolean {
  if (joinsWith === undefined) return true;
  const now = members.flatMap(({ peerUrls }) => peerUrls);
  return joinsWith.length === now.length && now.every((url) => joinsWith.includes(url));
}

/**
 * It cannot start, and would perhaps with what the spec says now: at once when that is something else. With the same
 * settings only after a while, for the sake of a kubelet's patience: what was mended elsewhere, as an image that is there
 * now, is tried by a new pod at once and by an old one up to five minutes later.
 */
export function isStuck(pod: MemberPod, world: World, now: number): boolean {
  if (problemOf(pod) === undefined || pod.state.t === "ended") return false;
  return hasOtherSettings(pod, world) || stuckAt(pod, world.cluster.spec.failover.crashLoopAfterSeconds) <= now;
}

function hasOtherSettings({ version, madeFrom }: MemberPod, { cluster: { spec } }: World): boolean {
  return madeFrom === undefined ? version !== spec.version : madeFrom !== settingsOf(spec);
}

/**
 * A kubelet tries after 0, 10, 30 and 70 s, and next after 150 s. A pod is made again before that, so that nothing waits
 * for a minute. How long a crash loop may take is the person's to say: a process that ran may come up by itself.
 */
const mostPatienceMs = 120_000;

/** Never, of one that a scheduler looks at: that waits for nothing but the nodes. */
export function stuckAt(pod: MemberPod, patienceSeconds: number): number {
  if (pod.state.t === "pending" && pod.madeFrom !== undefined) return Number.POSITIVE_INFINITY;
  if (pod.state.t === "crashing") return pod.state.since + patienceSeconds * 1000;
  return pod.createdAt + Math.min(patienceSeconds * 1000, mostPatienceMs);
}

export function problemOf({ state }: MemberPod): string | undefined {
  return state.t === "running" ? undefined : state.problem;
}
