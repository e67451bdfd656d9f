// Members that join at the same moment. Before etcd serves it asks every listed peer for its version, and one that
// listens and does not serve yet is waited for, twice for 7 s: two that start together would wait for each other. So
// they are listed where nobody can dial them. What a leader has to say reaches them all the same, on connections that
// they open themselves, and once they hold all data they get a vote and then their addresses.
import { has } from "../../../etcd/versions/features.ts";
import { parseVersion } from "../../../etcd/versions/version.ts";
import type { Action } from "../actions.ts";
import { isUndialable } from "../../objects/names.ts";
import { removeGone } from "../safety.ts";
import type { Seat } from "../seats.ts";
import { type Decision, listed, pace, type Situation } from "../situation.ts";
import { isAboutToServe } from "./starting.ts";

export function mayStartTogether(situation: Situation): boolean {
  const next = parseVersion(situation.world.cluster.spec.version);
  return (
    hasWholeLog(situation) && has(situation.version, "maxLearners") && next !== undefined && has(next, "maxLearners")
  );
}

/**
 * After so many entries etcd drops the beginning of its log (etcdserver/server.go, memorySnapshotCount). From then on a
 * new member needs a snapshot, and that can only be sent where it can be dialled.
 */
const wholeUpTo = 100;

/** And stays so while they start, if nobody writes much meanwhile. */
function hasWholeLog({ seats, world }: Situation): boolean {
  const { snapshotCount = wholeUpTo } = world.cluster.spec.etcd;
  const enough = Math.min(snapshotCount, wholeUpTo) / 2;
  return seats.every(({ answer }) => answer === undefined || answer.status.raftIndex < enough);
}

/**
 * After its promotion and never before: where a learner's address was changed, an etcd that reads its log again after a
 * restart takes it for a voter too soon, refuses its promotion, and from then on decides with other voters than the rest
 * (seen with 3.6.16; membership/cluster.go, UpdateRaftAttributes).
 */
export function addressOf({ member, name }: Seat): readonly Action[] {
  if (!isUndialable(member)) return [];
  return [{ do: "updatePeerUrl", id: member.id, member: name, because: "it has joined" }];
}

/** Voters that nobody can dial: the pass that promoted one did not come to its address. */
export function makeDialable({ ours }: Situation): Decision | undefined {
  const hidden = ours.filter(({ member }) => isUndialable(member) && !member.learner);
  if (hidden.length === 0) return undefined;
  return {
    actions: hidden.flatMap(addressOf),
    because: `${listed(hidden.map(({ name }) => name))} can be found by the others from now on`,
    lookAgainAfter: pace.atOnce,
  };
}

/** Not before all have started: until then each compares the list with the one that it was given. */
export function mayListChange({ now, ours }: Situation): boolean {
  return !ours.some((seat) => isAboutToServe(seat, now));
}

/** Milliseconds in which a process without data begins, when it gets what it needs. */
const beginsWithin = 5000;

/**
 * A learner that never gets to the end of the log, most likely because it needs a snapshot, or that would not, since it
 * has yet to start and needs one by now. It is exchanged for one that can be dialled: a learner costs nothing. One at a
 * time, or the next would be undialable again.
 */
export function exchangeUndialable(situation: Situation): Decision | undefined {
  const { learners, now } = situation;
  if (!mayListChange(situation)) return undefined;
  const needsMore = (seat: Seat): boolean =>
    seat.pod === undefined ? !hasWholeLog(situation) : runsFor(seat, now) > beginsWithin;
  const stuck = learners.find((seat) => isUndialable(seat.member) && needsMore(seat));
  const because = "it does not get all data where nobody can dial it";
  const actions = stuck === undefined ? undefined : removeGone(situation, stuck, because);
  if (stuck === undefined || actions === undefined) return undefined;
  return { actions, because: `${stuck.name} is exchanged: ${because}`, lookAgainAfter: pace.atOnce };
}

function runsFor({ pod }: Seat, now: number): number {
  return pod?.state.t === "running" ? now - (pod.state.since ?? pod.createdAt) : 0;
}
