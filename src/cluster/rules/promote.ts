// A learner that has caught up becomes a voter. The members' own answers tell who is worth trying; etcd, which knows
// better, may still refuse.
import type { Seat } from "../seats.ts";
import { isOneAboutToServe } from "./grow.ts";
import { type Decision, listed, pace, type Situation } from "../situation.ts";

/**
 * Entries behind the leader. etcd is content with nine tenths of the log, which may leave a large part of a long one.
 * So many entries it keeps at hand for those that lag (etcdserver/server.go, DefaultSnapshotCatchUpEntries).
 */
const closeBy = 5000;

export function promoteLearners(situation: Situation): Decision | undefined {
  // The next ones could not be added for 5 s after it, and a lone voter has nothing to gain from a second: of two, none
  // may fail.
  if (situation.voters.length === 1 && isOneAboutToServe(situation)) return undefined;
  const ready = situation.learners.filter((seat) => isCaughtUp(seat, situation)).toSorted((a, b) => at(b) - at(a));
  if (ready.length === 0) return undefined;
  return {
    actions: ready.map(({ member, name }) => ({ do: "promote", id: member.id, member: name })),
    because: `${listed(ready.map(({ name }) => name))} caught up and can vote`,
    lookAgainAfter: pace.soon,
  };
}

const at = ({ answer }: Seat): number => answer?.status.raftIndex ?? 0;

/** Promoting one that answers costs nothing: 2 healthy of 2 become 3 of 3, and even 2 of 3 become 3 of 4 ≥ quorum(4) = 3. */
function isCaughtUp(learner: Seat, { seats }: Situation): boolean {
  if (learner.state.t !== "learning") return false;
  const furthest = Math.max(...seats.filter(({ alive }) => alive).map(at));
  return at(learner) >= furthest * 0.9 && furthest - at(learner) <= closeBy;
}
