// The arithmetic that keeps data. Nothing else makes an action that removes a member or deletes a pod: whoever wants
// one asks here, and gets nothing when it would cost the quorum.
import { has } from "../../etcd/versions/features.ts";
import type { EtcdVersion } from "../../etcd/versions/version.ts";
import type { Action, Reason } from "./actions.ts";
import { isNodeLost, type Seat } from "./seats.ts";
import type { MemberPod, World } from "../observe/world.ts";

/** What a removal or deletion is judged by. */
export interface Table {
  readonly world: World;
  readonly now: number;
  /** As etcd listed them through the quorum in this very pass. */
  readonly seats: readonly Seat[];
}

export function quorum(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

const voters = (seats: readonly Seat[]): readonly Seat[] => seats.filter(({ member }) => !member.learner);

/**
 * A member that is lost, leaving, or of no use: with it goes nothing that serves, or nothing that stays. Those that
 * remain must be able to decide, right now.
 *
 * 3 voters, one lost: 2 alive ≥ quorum(2) = 2, removed. It makes things no worse: 2 of 3 was no more than enough either.
 * 5 voters, 2 lost: 3 ≥ quorum(4) = 3, then 3 ≥ quorum(3) = 2: both go, one after the other.
 * 3 voters, one lost, one leaving and alive: the lost one first (2 ≥ quorum(2) = 2), then the leaving one
 * (1 ≥ quorum(1) = 1). The other way round 1 < quorum(2) = 2 would remain: refused.
 * 2 voters, one leaving and alive: 1 ≥ quorum(1) = 1, removed; in a second, when it is dead, it would be too late.
 * 1 voter: 0 < quorum(0) = 1. The last one is never removed.
 */
export function removeGone(table: Table, seat: Seat, because: Reason): readonly Action[] | undefined {
  if (!seat.member.learner) {
    const others = voters(table.seats).filter((other) => other !== seat);
    if (others.filter(({ alive }) => alive).length < quorum(others.length)) return undefined;
  }
  return [removal(seat, because), ...podAfterRemoval(table, seat, because)];
}

/**
 * A voter that serves. Only those count for the rest that serve and stay, so that it is the one disruption there is.
 *
 * 5 voters, all healthy: 4 ≥ quorum(4) = 3, removed.
 * 5 voters, 2 away: taking a healthy one leaves 2 < quorum(4) = 3: refused.
 * 3 voters, one leaving: 1 < quorum(2) = 2: refused until that one is out.
 * 2 voters, both healthy: 1 ≥ quorum(1) = 1, removed.
 */
export function removeHealthy(table: Table, seat: Seat, because: Reason): readonly Action[] | undefined {
  const others = voters(table.seats).filter((other) => other !== seat);
  if (others.some(({ state }) => state.t === "leaving")) return undefined;
  if (others.filter(({ state }) => state.t === "healthy").length < quorum(others.length)) return undefined;
  return [removal(seat, because), ...podAfterRemoval(table, seat, because)];
}

/** It belongs to no member: etcd was asked after the pod was seen, and members are added before their pods are made. */
export function deleteOrphan({ world, now, seats }: Table, pod: MemberPod): readonly Action[] {
  if (seats.some(({ name }) => name === pod.name)) return [];
  return deletion(pod, "it belongs to no member of the cluster", world, now);
}

/** A learner that has never run has nothing to lose; it gets another pod under the same name. */
export function deleteUnstarted({ world, now }: Table, seat: Seat, because: Reason): readonly Action[] {
  if (seat.state.t !== "unstarted" || !seat.member.learner || seat.pod === undefined) return [];
  return deletion(seat.pod, because, world, now);
}

/**
 * The seed before it ever answered. No id was latched, the status has never called the cluster running, and no other
 * member exists: whatever the pod held, nobody was told that it is kept.
 */
export function deleteFailedSeed(world: World, now: number, because: Reason): readonly Action[] {
  const [seed, ...more] = world.pods;
  if (seed === undefined || more.length > 0 || hasServed(world) || seed.hasVolume) return [];
  return deletion(seed, because, world, now).map((action) => ({ ...action, unlessServed: true }));
}

/**
 * The pod of the second of two voters, which never ran and cannot as it is. Nothing was decided without the first one
 * (quorum(2) = 2), which has it all.
 */
export function deleteSecondVoterPod(world: World, now: number, pod: MemberPod, because: Reason): readonly Action[] {
  return pod.state.t === "running" || pod.hasVolume ? [] : deletion(pod, because, world, now);
}

/** By an operator's word. The one of 2018 latched no id; its clusters are known by their phase. */
export function isKnownToHaveServed({ clusterId, phase }: { clusterId?: string; phase?: string }): boolean {
  return (clusterId ?? "") !== "" || phase === "Running" || phase === "Failed";
}

/** There has been a cluster with data. From then on nothing may start a new one in its place. */
export function hasServed({ cluster: { status }, pods }: World): boolean {
  if (isKnownToHaveServed(status)) return true;
  // Clients may have found it before any operator did.
  return pods.some(({ readyOnce, state }) => readyOnce === true && state.t !== "ended");
}

/**
 * etcd refuses an add that a quorum of the voters after it would not be connected for, the new one not counted; before
 * 3.5.30 and 3.6.11 one that is away is enough. A lone voter is exempt. A learner counts like a voter here: it will be one.
 *
 * 3 voters, all healthy: 3 ≥ quorum(4) = 3. One away: 2 < 3, so it comes back or goes first.
 * 5 voters, one away: 4 ≥ quorum(6) = 4, taken by newer versions.
 */
export function mayAdd(seats: readonly Seat[], version: EtcdVersion): boolean {
  const all = voters(seats);
  const healthy = all.filter(({ state }) => state.t === "healthy").length;
  if (all.length === 1) return healthy === 1;
  return has(version, "addWithMinorityDown") ? healthy >= quorum(all.length + 1) : healthy === all.length;
}

/**
 * How many members must stay when nodes are drained. Each eviction costs a copy of the data, so one goes at a time,
 * which is never more than the quorum allows; and as many are counted as there will be, before they vote.
 *
 * 1 → 1, 2 → 2: evicting any would lose the quorum, so a drain waits for a person. 3 → 2, 4 → 3, 5 → 4, 7 → 6.
 * 3 voters on their way to 5: 4, so nothing is evicted until a fifth is there.
 */
export function minAvailable(votersNow: number, size: number): number {
  const members = Math.max(votersNow, size);
  return Math.max(quorum(members), members - 1);
}

function removal({ member, name, pod, state }: Seat, because: Reason): Action {
  const seen = pod === undefined ? ({ t: "none" } as const) : ({ t: "uid", uid: pod.uid } as const);
  const lost = state.t === "lost" || state.t === "leaving" ? ({ lost: true } as const) : {};
  return { do: "removeMember", id: member.id, member: name, because, pod: seen, ...lost };
}

/** After its member is out: never before, and never by name alone. */
function podAfterRemoval({ world, now }: Table, { pod }: Seat, because: Reason): readonly Action[] {
  return pod === undefined ? [] : deletion(pod, because, world, now);
}

function deletion(
  pod: MemberPod,
  because: Reason,
  world: World,
  now: number,
): readonly Extract<Action, { do: "deletePod" }>[] {
  const force = isNodeLost(pod, world, now);
  if (pod.terminating && !force) return [];
  return [{ do: "deletePod", member: pod.name, uid: pod.uid, because, force }];
}
