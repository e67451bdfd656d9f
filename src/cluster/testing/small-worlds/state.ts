// A small world: one EtcdCluster with its members, pods, claims and data, small enough to be written down as a line of text.
// Names and uids mean nothing by themselves, so worlds that differ only in them are the same line.

/** What is on a disk: nothing, the beginning of a copy, a copy that lacks the last writes, or all that was acknowledged. */
export type Data = "none" | "joining" | "behind" | "whole";

export interface SmallPod {
  uid: number;
  state: "pending" | "running" | "exited" | "ended";
  /** Why its process has exited. */
  why: "" | "killed" | "unfit" | "noData" | "removed";
  /** Nobody hears of its process: it hangs, or its node is silent, in the end for longer than the operator waits. */
  apart: "no" | "hung" | "silent" | "lost";
  terminating: boolean;
  guard: "open" | "closed";
  /** How its etcd comes to its first data. */
  start: "seed" | "join" | "return";
  /** The list of members that it was given is the one that etcd has. */
  fits: boolean;
  volume: boolean;
  /** In the pod itself; "none" where it has a volume. */
  data: Data;
  version: number;
  setting: number;
  /** Its image was changed in place: asked for, or runs by now. */
  changed: "no" | "asked" | "started";
  /** A minute has not passed since it was made. */
  young: boolean;
  /** Its process has kept exiting for longer than the operator waits. */
  overdue: boolean;
  /** The new image was tried on its node. */
  proved: boolean;
  readyOnce: boolean;
}

export interface SmallClaim {
  uid: number;
  bound: boolean;
  terminating: boolean;
  retired: boolean;
  /** The operator has written on it that its member has started, and in what. */
  noted: boolean;
  version: number;
  setting: number;
  data: Data;
}

/** As etcd lists it. */
export interface SmallMember {
  voter: boolean;
  named: boolean;
  placeholder: boolean;
}

/** All that goes by one name. */
export interface Slot {
  seed: boolean;
  member: SmallMember | null;
  pod: SmallPod | null;
  claim: SmallClaim | null;
  leads: boolean;
  /** The status calls it a voter. */
  inStatus: boolean;
  /** What a cache shows that has heard nothing for a while; null: it hears. */
  seen: { pod: SmallPod | null; claim: SmallClaim | null; inStatus: boolean } | null;
}

export interface SmallCluster {
  size: number;
  version: number;
  setting: number;
  volumes: boolean;
  paused: boolean;
  /** Its status holds etcd's id. */
  recorded: boolean;
  phase: "" | "Creating" | "Running" | "Failed";
  statusSize: number;
}

export interface SmallWorld {
  cluster: SmallCluster;
  /** As a cache shows it that has heard nothing for a while; null: it hears. */
  seenCluster: SmallCluster | null;
  /** The operator has written what the cache does not show yet, and does nothing before it does. */
  waits: boolean;
  slots: Slot[];
  /** How much more may happen to it. */
  faults: number;
  changes: number;
}

export const emptySlot = (): Slot => ({
  seed: false,
  member: null,
  pod: null,
  claim: null,
  leads: false,
  inStatus: false,
  seen: null,
});

export function emptyWorld(cluster: Partial<SmallCluster>, faults: number, changes: number): SmallWorld {
  const wanted = { size: 3, version: 0, setting: 0, volumes: false, paused: false };
  const status = { recorded: false, phase: "", statusSize: 0 } as const;
  return { cluster: { ...wanted, ...status, ...cluster }, seenCluster: null, waits: false, slots: [], faults, changes };
}

export const quorumOf = (voters: number): number => Math.floor(voters / 2) + 1;

/** Where its data is. */
export function dataOf({ pod, claim }: Slot): Data {
  if (pod !== null && !pod.volume) return pod.data;
  return claim?.data ?? "none";
}

export function setData({ pod, claim }: Slot, data: Data): void {
  if (pod !== null && !pod.volume) pod.data = data;
  else if (claim !== null) claim.data = data;
}

/** Its process runs as a member, and the others hear of it. */
export function isUp(slot: Slot): boolean {
  const { member, pod } = slot;
  return member !== null && pod?.state === "running" && pod.apart === "no" && dataOf(slot) !== "none";
}

export const isVoting = ({ member }: Slot): boolean => member?.voter === true;

export const votersOf = ({ slots }: SmallWorld): Slot[] => slots.filter(isVoting);

/** Enough voters run and hear of each other. */
export function decides(world: SmallWorld): boolean {
  const voters = votersOf(world);
  return voters.length > 0 && voters.filter(isUp).length >= quorumOf(voters.length);
}

/** The line of text of a world. */
export function textOf(world: SmallWorld): string {
  const lines = world.slots
    .filter(isOfUse)
    .map((slot) => JSON.stringify(plain(slot)))
    .sort();
  return `${JSON.stringify([world.cluster, world.seenCluster, world.waits, world.faults, world.changes])}\n${lines.join("\n")}`;
}

export function worldOf(text: string): SmallWorld {
  const [first = "", ...lines] = text.split("\n");
  const [cluster, seenCluster, waits, faults, changes]: [SmallCluster, SmallCluster | null, boolean, number, number] =
    JSON.parse(first);
  const slots = lines.filter((line) => line !== "").map((line): Slot => JSON.parse(line));
  return { cluster, seenCluster, waits, slots, faults, changes };
}

/** A volume that is kept for people is nobody's concern any more. */
function isOfUse({ member, pod, claim, inStatus, seen }: Slot): boolean {
  const isThere = (one: Pick<Slot, "pod" | "claim" | "inStatus">): boolean =>
    one.pod !== null || (one.claim !== null && !one.claim.retired) || one.inStatus;
  return member !== null || isThere({ pod, claim, inStatus }) || (seen !== null && isThere(seen));
}

/** What there is has the uid 0, and what only a cache shows has 1. */
function plain(slot: Slot): Slot {
  const { pod, claim, seen } = slot;
  const seenAs = <T extends { uid: number }>(one: T | null, there: T | null): T | null =>
    one && { ...one, uid: one.uid === there?.uid ? 0 : 1 };
  return {
    ...slot,
    pod: pod && { ...pod, ...startOf(slot, pod), uid: 0 },
    claim: claim && { ...claim, uid: 0 },
    seen: seen && { ...seen, pod: seenAs(seen.pod, pod), claim: seenAs(seen.claim, claim) },
  };
}

/** It says nothing any more about one that has data, or may not start without. */
function startOf(slot: Slot, { guard, start, fits }: SmallPod): Pick<SmallPod, "start" | "fits"> {
  if (guard === "open" && dataOf(slot) === "none") return { start, fits };
  return { start: guard === "open" ? start : "return", fits: true };
}

/** One that nothing there has. */
export const freshUid = 2;

/** For people. */
export function describe(world: SmallWorld): string {
  const { cluster, seenCluster } = world;
  const wanted = [
    `size ${cluster.size}`,
    cluster.version > 0 ? "the next version" : "",
    cluster.setting > 0 ? "other settings" : "",
    cluster.volumes ? "volumes" : "",
    cluster.paused ? "paused" : "",
    cluster.recorded ? "" : "no id recorded",
    seenCluster === null ? "" : "the cache hears nothing",
    world.waits ? "the operator waits for it" : "",
  ];
  const members = world.slots.map((slot, index) => `${nameIn(slot, index)}: ${inWords(slot)}`);
  return `${wanted.filter((word) => word !== "").join(", ")}; ${members.join("; ") || "nothing there"}`;
}

export const nameIn = ({ seed }: Slot, index: number): string => (seed ? "seed" : `m${index}`);

function inWords({ member, pod, claim, leads, seen }: Slot): string {
  const words = [
    member === null ? "no member" : `${member.voter ? "voter" : "learner"}${member.named ? "" : " without a name"}`,
    member?.placeholder ? "not dialable" : "",
    leads ? "leads" : "",
    pod === null ? "no pod" : podInWords(pod),
    claim === null ? "" : claimInWords(claim),
    seen === null ? "" : `seen with ${seen.pod === null ? "no pod" : podInWords(seen.pod)}`,
  ];
  return words.filter((word) => word !== "").join(", ");
}

function podInWords(pod: SmallPod): string {
  const words = [
    `${pod.state}${pod.why === "" ? "" : ` (${pod.why})`}`,
    pod.apart === "no" ? "" : pod.apart,
    pod.terminating ? "terminating" : "",
    pod.guard === "open" ? "may start empty" : "",
    pod.volume ? "" : `data ${pod.data}`,
    pod.fits || pod.start !== "join" ? "" : "knows another list",
    pod.changed === "no" ? "" : `image changed (${pod.changed})`,
  ];
  return `pod ${words.filter((word) => word !== "").join(" ")}`;
}

function claimInWords(claim: SmallClaim): string {
  const words = [
    claim.bound ? `data ${claim.data}` : "unbound",
    claim.noted ? "" : "not noted",
    claim.retired ? "retired" : "",
    claim.terminating ? "terminating" : "",
  ];
  return `claim ${words.filter((word) => word !== "").join(" ")}`;
}
