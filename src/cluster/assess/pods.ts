// What a pod's state means for its member: whether it may still come up, whether it holds data, and since when it does
// not do what it should.
import type { ResourceRequirements } from "kubernetes-types/core/v1.js";
import { type CompleteEtcdCluster, imageOf } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Member } from "../../etcd/member.ts";
import { restartedAtOf } from "../objects/member-pod.ts";
import { hasAll, hasAllNames, resized } from "../objects/resources.ts";
import { needsOtherPod, parseSettings, settingsOf } from "../objects/settings.ts";
import type { Claim, Facts, MemberPod } from "../observe/world.ts";
import { holds, isHeldBy, needsOtherVolume } from "./claims.ts";
import type { Desired } from "./desired.ts";
import { outdatedTls } from "./certificates/pod-tls.ts";

type Failover = Pick<Facts, "cluster">;

/** What keeps the pod from running, in words; undefined when nothing does. */
export function problemOf({ state }: MemberPod): string | undefined {
  return state.t === "running" ? undefined : state.problem;
}

/** Milliseconds since a pod was made in which it is expected to start. */
const startsWithinMs = 60_000;

/** Young enough to be observed often. */
export function isYoung({ createdAt }: MemberPod, now: number): boolean {
  return now - createdAt < startsWithinMs;
}

/** It will run soon, for all that is known. */
export function isComingUp(pod: MemberPod, now: number): boolean {
  if (pod.terminating || problemOf(pod) !== undefined) return false;
  return pod.state.t !== "running" || isYoung(pod, now);
}

/** Milliseconds that its process runs; 0 when it does not. */
export function runsFor({ state, createdAt }: MemberPod, now: number): number {
  return state.t === "running" ? now - (state.since ?? createdAt) : 0;
}

// Data

/**
 * Its etcd exited because it found no data, and it had started before: what it held is gone. A pod that has yet to
 * start for the first time exits like this when it finds nobody to join.
 */
export function hasLostData({ guard, state }: MemberPod): boolean {
  return guard === "closed" && state.t === "crashing" && state.withoutData === true;
}

/** It may start without data, and has yet to get to its node, or its data is being made: its etcd has never run. */
export function isBeforeItsFirstStart({ guard, state }: MemberPod): boolean {
  return guard === "open" && (state.t === "pending" || (state.t === "starting" && state.restoring === true));
}

/** A pod that ends takes the data with it, unless that is in a volume. */
export function holdsData(pod: MemberPod | undefined, claim: Claim | undefined): boolean {
  if (pod === undefined) return claim !== undefined && holds(claim);
  if (hasLostData(pod)) return false;
  if (pod.hasVolume) return (claim !== undefined && holds(claim)) || isHeldBy(pod, claim);
  return pod.state.t !== "ended" && !pod.terminating && pod.node.t !== "gone";
}

// Nodes

/** When a pod counts as lost with its node; undefined while its node is well. */
export function nodeLostAt({ node, createdAt }: MemberPod, { cluster }: Failover): number | undefined {
  const patience = cluster.spec.failover.unreachableAfterSeconds * 1000;
  if (node.t === "silent") return node.since + patience;
  // A pod may be younger than what is known of nodes, so without a time of its own it must be old enough itself.
  return node.t === "gone" ? (node.since ?? createdAt) + patience : undefined;
}

/** There is no kubelet left that could stop the pod, and none is expected back. */
export function isNodeLost(pod: MemberPod, world: Failover, now: number): boolean {
  const at = nodeLostAt(pod, world);
  return at !== undefined && at <= now;
}

// Changes in place

/** Its image was changed, and it runs the new one by now; whether it serves is another matter. */
export function hasChanged(pod: MemberPod): boolean {
  const { changedFrom, state } = pod;
  if (changedFrom === undefined || state.t !== "running") return false;
  // Admission may make the same of both images: then its container is not started again.
  return state.restarts > changedFrom.restarts || (changedFrom.ran ?? changedFrom.image) === containerImage(pod);
}

/** What its kubelet runs, whatever was asked for. */
export const containerImage = ({ image, rewritten }: MemberPod): string => rewritten ?? image;

// Settings

/** It was made from something else than a new pod would be, and that cannot be changed while it is there. */
export function hasOtherSettings(pod: MemberPod, { cluster, tls }: Desired): boolean {
  const { version, image, madeFrom } = pod;
  const { spec } = cluster;
  if (needsOtherVolume(pod, undefined, cluster) !== undefined) return true;
  if (version !== spec.version || image !== imageOf(spec)) return true;
  if (tls !== undefined && outdatedTls(pod, tls) !== undefined) return true;
  return (
    outdatedSetting(pod, cluster) !== undefined || (madeFrom !== undefined && parseSettings(madeFrom) === undefined)
  );
}

/**
 * What only another pod can give it, in words; undefined: nothing. A pod of another operator, or of a release that wrote
 * it down differently, is not known to differ, and stays as it is.
 */
export function outdatedSetting(pod: MemberPod, cluster: CompleteEtcdCluster): string | undefined {
  const { spec } = cluster;
  const restartedAt = restartedAtOf(cluster);
  if (restartedAt !== undefined && pod.restartedAt !== restartedAt) return "a restart was asked for";
  // As long as it has it, no worker on another node can take a backup.
  if (pod.holdsBackups === true && cluster.status.restore?.phase === "Done")
    return "it was restored from the volume of the backups, and must let go of it";
  if (pod.madeFrom === undefined || pod.madeFrom === settingsOf(spec)) return undefined;
  const needsOther = needsOtherPod(pod.madeFrom, spec);
  if (needsOther === true) return "its settings have changed";
  if (needsOther === undefined) return undefined;
  const { resources: before } = parseSettings(pod.madeFrom)?.pod ?? {};
  const { resources: wanted } = spec.pod;
  const isTaken = hasAll(before, wanted) || canHave(pod, wanted);
  return isTaken && hasAllNames(wanted, before) ? undefined : "Kubernetes cannot change its resources in place";
}

/**
 * A kubelet of 1.34 resizes a container that runs. One that is killed again and again because it lacks memory it leaves in the
 * pod's old limit, seen on the lab: that one is helped by a new pod.
 */
function canHave({ resources, state }: MemberPod, wanted: ResourceRequirements | undefined): boolean {
  return state.t === "running" && (hasAll(resources, wanted) || resized(resources, wanted) !== undefined);
}

/** It runs, no client was ever sent to it, and the settings that may be the reason have been changed since. */
export function isOutdatedAndUnheard(pod: MemberPod, desired: Desired): boolean {
  return pod.state.t === "running" && pod.state.unheard === true && hasOtherSettings(pod, desired);
}

/** Whether it would be let in: etcd compares the list that it is started with with its own. */
export function knowsMembers({ joinsWith }: MemberPod, members: readonly Member[]): boolean {
  if (joinsWith === undefined) return true;
  const now = members.flatMap(({ peerUrls }) => peerUrls);
  return joinsWith.length === now.length && now.every((url) => joinsWith.includes(url));
}

/**
 * It cannot start, and might with what the spec says now: at once when that is something else. With the same settings
 * only after a while, because of the kubelet's back-off: what was corrected elsewhere, as an image that is there now, is
 * tried by a new pod at once and by an old one up to five minutes later.
 */
export function isStuck(pod: MemberPod, world: Failover, desired: Desired, now: number): boolean {
  if (problemOf(pod) === undefined || pod.state.t === "ended") return false;
  return hasOtherSettings(pod, desired) || stuckAt(pod, world) <= now;
}

/**
 * A kubelet tries after 0, 10, 30 and 70 s, and next after 150 s. A pod is made again before that, so that nothing waits
 * for a minute. How long a crash loop may take is the person's to say: a process that ran may come up by itself.
 */
const mostPatienceMs = 120_000;

/** When it is made again; never while it waits for the scheduler, which waits for nothing but the nodes. */
export function stuckAt(pod: MemberPod, { cluster }: Failover): number {
  const patience = cluster.spec.failover.crashLoopAfterSeconds * 1000;
  if (pod.state.t === "pending" && pod.madeFrom !== undefined) return Number.POSITIVE_INFINITY;
  // What keeps it from its data is tried again by the kubelet, and another pod would begin from nothing.
  if (pod.state.t === "starting" && pod.state.restoring === true) return Number.POSITIVE_INFINITY;
  if (pod.state.t === "crashing") return pod.state.since + patience;
  return pod.createdAt + Math.min(patience, mostPatienceMs);
}
