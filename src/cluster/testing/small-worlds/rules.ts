// What no write of an operator may do to a small world, judged by what is there and not by what the operator takes it for.
import { Violation } from "./etcd.ts";
import { dataOf, isUp, isVoting, nameIn, quorumOf, type Slot, type SmallWorld, votersOf } from "./state.ts";

/** What matters of a world before a write. */
export interface Before {
  readonly decides: boolean;
  readonly isLost: boolean;
  readonly voters: number;
  /** The slots that hold all that was acknowledged. */
  readonly copies: readonly number[];
  readonly keepsAll: boolean;
}

export function before(world: SmallWorld): Before {
  return {
    decides: decidesWithStaying(world),
    isLost: isLostForGood(world),
    voters: votersOf(world).length,
    copies: world.slots.flatMap((slot, index) => (isVoting(slot) && isCopy(slot) && !isGivenUp(slot) ? [index] : [])),
    keepsAll: world.slots.every((slot) => slot.pod === null || slot.pod.volume),
  };
}

/** `what` was written. `restarts`: it stops a process that comes back with its data. */
export function judge(was: Before, after: SmallWorld, what: string, restarts: boolean): void {
  // Nobody was told yet that anything is kept.
  if (!after.cluster.recorded) return;
  // With one or two voters none may stop, and there is no other way to change them.
  const isOnlyWay = restarts && votersOf(after).length <= 2;
  if (was.decides && !isOnlyWay && !decidesWithStaying(after)) throw new Violation(`"${what}" takes the quorum away`);
  if (!was.isLost && isLostForGood(after)) throw new Violation(`"${what}" loses the quorum for good`);
  const given = was.copies.filter((index) => isGivenUp(after.slots[index]));
  if (given.length === 0) return;
  const others = votersOf(after).filter((slot) => !given.includes(after.slots.indexOf(slot)));
  const copies = others.filter((slot) => isCopy(slot) && isUp(slot) && stays(slot));
  if (copies.length < quorumOf(others.length))
    throw new Violation(`"${what}" gives up a copy while too few others hold all that was acknowledged`);
  const left = given.filter((index) => after.slots[index]?.member === null);
  if (left.length > 0 && was.voters <= after.cluster.size) {
    const [slot, index = 0] = [after.slots[left[0] ?? 0], left[0]];
    throw new Violation(`"${what}" takes ${slot ? nameIn(slot, index) : ""} out while nobody is too many`);
  }
}

const isCopy = (slot: Slot): boolean => dataOf(slot) === "whole" && isUp(slot) && stays(slot);

/** Nobody has told it to go. */
function stays({ pod, claim }: Slot): boolean {
  if (pod === null || pod.terminating) return false;
  return !pod.volume || claim !== null;
}

/** It is out, or its data goes. */
function isGivenUp(slot: Slot | undefined): boolean {
  if (slot === undefined || slot.member === null) return true;
  const { pod, claim } = slot;
  if (claim !== null && claim.data !== "none") return claim.terminating || claim.retired;
  return pod === null || pod.terminating;
}

/** The voters that run, and that nobody has told to go, are enough. */
function decidesWithStaying(world: SmallWorld): boolean {
  const voters = votersOf(world);
  const isStaying = (slot: Slot): boolean => isUp(slot) && slot.pod?.terminating === false;
  return voters.length > 0 && voters.filter(isStaying).length >= quorumOf(voters.length);
}

/** Too few voters have data that outlives what was told to go. */
export function isLostForGood(world: SmallWorld): boolean {
  const voters = votersOf(world);
  return voters.length > 0 && voters.filter(keepsItsData).length < quorumOf(voters.length);
}

function keepsItsData({ pod, claim }: Slot): boolean {
  // As spec.failover says: nobody waits for that node any more.
  if (pod?.apart === "lost") return false;
  // A claim that is being deleted stays as long as its pod.
  if (claim !== null && claim.data !== "none") return !claim.terminating || pod?.terminating === false;
  return pod !== null && !pod.volume && pod.data !== "none" && !pod.terminating;
}
