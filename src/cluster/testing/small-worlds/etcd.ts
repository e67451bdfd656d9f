// The etcd of a small world: who leads, who holds what was acknowledged, and which changes of its members it takes. Clients
// write all the time, so whoever is away for a moment lacks something.
import {
  type Data,
  dataOf,
  decides,
  isUp,
  isVoting,
  quorumOf,
  setData,
  type Slot,
  type SmallWorld,
  votersOf,
} from "./state.ts";

/** What must never be, in words. */
export class Violation extends Error {}

/** What follows at once from what there is: a leader is there if one can be, and clients have written. */
export function settle(world: SmallWorld): void {
  const { slots } = world;
  for (const slot of slots) if (slot.leads && !(isUp(slot) && isVoting(slot))) slot.leads = false;
  if (!decides(world)) {
    for (const slot of slots) slot.leads = false;
    return;
  }
  const up = votersOf(world).filter(isUp);
  if (!up.some((slot) => dataOf(slot) === "whole")) throw new Violation("acknowledged writes are lost");
  if (!up.some(({ leads }) => leads)) for (const slot of up.filter(isWhole).slice(0, 1)) slot.leads = true;
  for (const slot of slots) {
    setData(slot, after(slot));
    // Its kubelet finds it ready.
    if (isUp(slot) && isWhole(slot) && slot.pod !== null) [slot.pod.readyOnce, slot.pod.young] = [true, false];
  }
}

const isWhole = (slot: Slot): boolean => dataOf(slot) === "whole";

function after(slot: Slot): Data {
  const data = dataOf(slot);
  if (data === "none" || data === "joining") return data;
  return slot.member !== null && isUp(slot) ? "whole" : "behind";
}

/** A learner's first copy is there, and it has told the others its name. */
export function catchUp(slot: Slot): void {
  setData(slot, "whole");
  if (slot.member !== null) slot.member.named = true;
}

/** Whoever has yet to start compares the list with the one that it was given. */
function listChanged({ slots }: SmallWorld): void {
  for (const { pod, claim } of slots) if (pod !== null && (claim?.data ?? pod.data) === "none") pod.fits = false;
}

/** Undefined: done. Else why not. */
export type Answer = string | undefined;

export function addLearner(world: SmallWorld, slot: Slot, placeholder: boolean, admitted: number): Answer {
  const voters = votersOf(world);
  if (!decides(world)) return "no leader";
  if (voters.length > 1 && voters.filter(isUp).length < quorumOf(voters.length + 1)) return "unhealthy cluster";
  if (world.slots.filter(({ member }) => member?.voter === false).length >= admitted) return "too many learners";
  slot.member = { voter: false, named: false, placeholder };
  listChanged(world);
  return undefined;
}

export function promote(world: SmallWorld, slot: Slot): Answer {
  if (!decides(world)) return "no leader";
  if (slot.member === null) return "member not found";
  if (slot.member.voter) return undefined;
  if (!isUp(slot) || dataOf(slot) !== "whole") return "learner not ready";
  const started = votersOf(world).filter(({ member }) => member?.named === true).length;
  if (started + 1 < quorumOf(votersOf(world).length + 1)) return "not enough started members";
  slot.member.voter = true;
  return undefined;
}

export function remove(world: SmallWorld, slot: Slot): Answer {
  if (!decides(world)) return "no leader";
  const voters = votersOf(world);
  if (isVoting(slot)) {
    if (voters.length === 1) return "not enough started members";
    const up = voters.filter(isUp).length;
    if (isUp(slot) && up - 1 < quorumOf(voters.length - 1)) return "unhealthy cluster";
  }
  const { pod } = slot;
  // It hears of it, and ends.
  if (isUp(slot) && pod !== null) [pod.state, pod.why] = ["exited", "removed"];
  slot.member = null;
  listChanged(world);
  return undefined;
}

export function dial(world: SmallWorld, slot: Slot): Answer {
  if (!decides(world)) return "no leader";
  if (slot.member === null) return "member not found";
  slot.member.placeholder = false;
  listChanged(world);
  return undefined;
}

export function lead(world: SmallWorld, slot: Slot): Answer {
  if (!isUp(slot) || !isVoting(slot)) return "bad transferee";
  for (const other of world.slots) other.leads = other === slot;
  return undefined;
}
