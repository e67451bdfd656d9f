// How the cluster does as a whole: whether it serves, and if not, whether it will again by itself. Plan, status,
// conditions and events all follow what is concluded here.
import type { ClusterId } from "../../etcd/ids.ts";
import { type MemberName, memberName } from "../objects/names.ts";
import type { AccessTrouble, Claim, EtcdView, MemberAnswer, MemberPod, ClusterWorld } from "../observe/world.ts";
import { isBeginning } from "./beginning.ts";
import { claimOf, countedClaims, hasBegun } from "./claims.ts";
import { hasLostData, holdsData, isYoung } from "./pods.ts";
import { isVoter, quorum, type Instance } from "./instances.ts";

export type Health =
  /** It has never served. `restore`: the first members are made from a backup, by this EtcdRestore. */
  | { readonly t: "creating"; readonly restore?: string }
  /** The members go, because other data takes their place. */
  | { readonly t: "restoring"; readonly restore: string }
  | { readonly t: "serving" }
  /** Enough voters answer and have no leader at this moment. */
  | { readonly t: "electing" }
  /** Voters that start for the first time are needed for a majority: so it is for a moment after they got their votes. */
  | { readonly t: "joining" }
  /** etcd's own authentication keeps the operator out. `serves`: clients that it lets in are served. */
  | { readonly t: "accessDenied"; readonly trouble: AccessTrouble; readonly serves: boolean }
  /** All that answer are members of another cluster than the status says that this one is. */
  | { readonly t: "foreign"; readonly answering: ClusterId; readonly recorded: ClusterId }
  /** Too few answer, and enough voters still have their data to come back. */
  | { readonly t: "quorumLost"; readonly answering: number; readonly voters: number }
  /** Too few voters have their data: no waiting helps. */
  | { readonly t: "dataLost"; readonly left: number; readonly voters: number };

export function healthOf(world: ClusterWorld, instances: readonly Instance[], now: number): Health {
  const { etcd, cluster } = world;
  const { restore } = cluster.status;
  if (restore?.phase === "Stopping") return { t: "restoring", restore: restore.name };
  if (etcd.t === "quorum") return { t: "serving" };
  if (etcd.t === "accessDenied") return accessDenied(etcd, world, now);
  const isNew = !isKnownToHaveServed(cluster.status);
  if (etcd.t === "noQuorum" && !(isNew && restore?.phase === "Seeding")) {
    const [stranger] = etcd.strangers;
    if (etcd.answers.size === 0 && stranger !== undefined)
      return { t: "foreign", answering: stranger.clusterId, recorded: etcd.clusterId };
  } else if (isNew && !hasLostItsSeed(world))
    return { t: "creating", ...(restore?.phase === "Seeding" && { restore: restore.name }) };
  return withoutQuorum(instances.filter(isVoter), world, now);
}

/** It served, and its operator died before it wrote down more than that it must not start without its data. */
const hasLostItsSeed = (world: ClusterWorld): boolean =>
  world.pods.length > 0 && hasServed(world) && world.pods.every(hasLostData);

/** Whoever refuses may be all that is left: 1 of 3 refuses, the pods of 2 are gone, and no login brings them back. */
function accessDenied(
  { trouble, serving }: Extract<EtcdView, { t: "accessDenied" }>,
  world: ClusterWorld,
  now: number,
): Health {
  const serves = serving.length > 0;
  const left = withoutList(world, now);
  return !serves && left.t === "dataLost" ? left : { t: "accessDenied", trouble, serves };
}

function withoutQuorum(voters: readonly Instance[], world: ClusterWorld, now: number): Health {
  // Learners keep the list to themselves, and who is silent tells nothing: then the status knows who voted last.
  if (voters.length === 0) return withoutList(world, now);
  const answering = voters.filter(({ answer }) => answer !== undefined).length;
  const needed = quorum(voters.length);
  // 3 voters, 2 answer: they can elect a leader, and do within a second or two. 1 answers: it never can alone.
  if (answering >= needed) return { t: "electing" };
  const unstarted = voters.filter(({ member }) => member.name === "").length;
  // 2 voters, one of them new: 1 answers, and 1 + 1 ≥ quorum(2) = 2. It had no data that could be lost.
  if (answering + unstarted >= needed) return { t: "joining" };
  return lost(answering, voters.length, voters, now);
}

/**
 * 1 voter and 2 learners, the voter's pod gone: 0 < quorum(1) = 1 hold the data, whatever the learners have copied.
 * 3 voters, 1 pod gone, 2 that do not answer yet: 2 ≥ quorum(3) = 2 can come back by themselves.
 */
function withoutList({ claims, cluster: { status }, pods }: ClusterWorld, now: number): Health {
  const at = (name: MemberName): MemberTrace => ({
    pod: pods.find((pod) => pod.name === name),
    claim: claimOf(claims, name),
  });
  if (status.voters.length > 0) return lost(0, status.voters.length, status.voters.map(memberName).map(at), now);
  const current = claims.filter(({ role }) => role === "current");
  // Written by an older release, or taken over with its volumes: any pod and any volume may be a voter's.
  const names = new Set([...pods, ...current.filter(hasBegun)].map(({ name }) => name));
  return lost(0, Math.max(1, status.size || names.size), [...names].map(at), now);
}

interface MemberTrace {
  readonly pod: MemberPod | undefined;
  readonly claim: Claim | undefined;
  readonly answer?: MemberAnswer | undefined;
}

function lost(answering: number, voters: number, places: readonly MemberTrace[], now: number): Health {
  const left = places.filter(({ pod, claim }) => holdsData(pod, claim)).length;
  if (left < quorum(voters)) return { t: "dataLost", left, voters };
  const coming = places.filter(({ pod, answer }) => answer === undefined && isFirstComing(pod, now)).length;
  // 3 voters, 2 of them promoted a moment ago and about to serve: if the third is slow for once, 0 + 2 ≥ quorum(3) = 2
  // come by themselves. One that ran before is waited for in another way: somebody was served by it, and is not now.
  if (answering + coming >= quorum(voters)) return { t: "joining" };
  return { t: "quorumLost", answering, voters };
}

/** By an operator's word. etcd-operator 0.9 stored no id; its clusters are known by their phase. */
export function isKnownToHaveServed({ clusterId, phase }: { clusterId?: string; phase?: string }): boolean {
  return (clusterId ?? "") !== "" || phase === "Running" || phase === "Failed";
}

/** There has been a cluster with data. From then on nothing may start a new one in its place. */
export function hasServed(world: ClusterWorld): boolean {
  const { cluster, pods } = world;
  if (isKnownToHaveServed(cluster.status) || countedClaims(world).some(hasBegun)) return true;
  // Clients may have found it before any operator did. What has ended took its data with it; a seed comes back on its volume,
  // and first members of a restored cluster would begin again on others.
  const isKept = ({ hasVolume, state }: MemberPod): boolean => state.t !== "ended" || (hasVolume && isBeginning(world));
  return pods.some((pod) => pod.readyOnce === true && isKept(pod));
}

/**
 * Voters that were there once and are of no use now. Without a leader nobody is healthy, and those that answer will be.
 * One without a name has yet to join, and one that was never ready has served nobody yet.
 */
export function unhealthyVoters({ etcd }: ClusterWorld, instances: readonly Instance[]): readonly Instance[] {
  const isOfUse = ({ alive, answer }: Instance): boolean => (etcd.t === "quorum" ? alive : answer !== undefined);
  // Its container is started again with another image: it is expected back, and `roll.stopped` says if it does not come.
  const isBeingChanged = ({ pod }: Instance): boolean => pod?.changedFrom !== undefined && !pod.terminating;
  return instances.filter(
    (instance) =>
      isVoter(instance) &&
      instance.member.name !== "" &&
      !isOfUse(instance) &&
      ((!isFirstStart(instance.pod) && !isBeingChanged(instance)) || isWiped(instance)),
  );
}

const isFirstStart = (pod: MemberPod | undefined): boolean =>
  pod?.state.t === "running" && !pod.ready && pod.readyOnce !== true;

/** For a while: one that is still not there then is missed like any other. */
const isFirstComing = (pod: MemberPod | undefined, now: number): boolean =>
  pod !== undefined && isFirstStart(pod) && !pod.terminating && isYoung(pod, now);

const isWiped = ({ state }: Instance): boolean => state.t === "lost" && state.wiped === true;
