// Each member that etcd lists, with its pod and its answer, and the state it is in: the one place that turns what was
// observed into what it means. Plan and report both read it. Nothing here decides what is done about it.
import type { Member } from "../../etcd/member.ts";
import { memberName, type MemberName, memberOfPeerUrl } from "../objects/names.ts";
import type { Claim, EtcdAnswers, Facts, MemberAnswer, MemberPod } from "../observe/world.ts";
import { claimOf, holds, isHeldBy, volumeLossOf } from "./claims.ts";
import { hasLostData, isBeforeItsFirstStart, isComingUp, isNodeLost, isYoung, nodeLostAt, problemOf } from "./pods.ts";

/** In words, for the event that goes with what is done about it. */
export type Reason = string;

export interface Instance {
  readonly member: Member;
  /** The name of its pod, whether there is one or not; of one that is not ours, whatever etcd knows. */
  readonly name: MemberName;
  readonly pod: MemberPod | undefined;
  /** The claim of its own volume; undefined: it has none. */
  readonly claim: Claim | undefined;
  readonly answer: MemberAnswer | undefined;
  /** A voter that reads through the quorum right now and can be believed, even if it is about to go. */
  readonly alive: boolean;
  readonly state: InstanceState;
}

type InstanceState =
  /** A voter that serves and stays. */
  | { readonly t: "healthy" }
  /** A voter that serves, on a volume that goes with its pod. It is in no hurry: it stays until another has taken its place. */
  | { readonly t: "doomed"; readonly because: Reason }
  /** A learner whose process answers. */
  | { readonly t: "learning" }
  /** Listed, and its etcd has never run, as far as etcd knows: it has no data that could be lost. */
  | { readonly t: "unstarted"; readonly lostAt: number | undefined }
  /** Its data is there and it comes back, perhaps in a new pod; from `lostAt` on it counts as lost. */
  | { readonly t: "away"; readonly lostAt: number | undefined }
  /** Its pod is being deleted, and its data with it. It may serve for another second. */
  | { readonly t: "leaving"; readonly because: Reason }
  /** It will not come back with what it held. `wiped`: it came back, or tried to, without its data. */
  | { readonly t: "lost"; readonly because: Reason; readonly wiped?: true }
  /** Not one of our pods, and so not one that we can manage. */
  | { readonly t: "foreign" }
  /** Its pod answers as a member of another cluster. A person has to see what it holds; nothing is done to it. */
  | { readonly t: "stranger" };

export function quorum(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

export function instancesOf(world: Facts, etcd: EtcdAnswers, now: number): readonly Instance[] {
  const pods = new Map<string, MemberPod>(world.pods.map((pod) => [pod.name, pod]));
  const strangers = new Set(etcd.strangers.map(({ pod }) => pod));
  return etcd.members.map((member) => {
    const ours = podNameOf(world, member, pods);
    const name = ours ?? memberName(member.name === "" ? member.id : member.name);
    const pod = ours === undefined ? undefined : pods.get(ours);
    const answer = etcd.answers.get(member.id);
    const wiped = etcd.wiped.has(member.id);
    const claim = ours === undefined ? undefined : claimOf(world.claims, ours);
    const instance = { member, name, pod, claim, answer, alive: !member.learner && !wiped && answer?.healthy === true };
    if (ours === undefined) return { ...instance, state: { t: "foreign" } };
    if (strangers.has(name)) return { ...instance, state: { t: "stranger" } };
    return { ...instance, state: stateOf(instance, wiped, world, now) };
  });
}

/** Undefined when the member is none of ours. Older operators wrote other URLs, whose first label is a pod all the same. */
function podNameOf(world: Facts, { peerUrls }: Member, pods: ReadonlyMap<string, MemberPod>): MemberName | undefined {
  for (const url of peerUrls) {
    const name = memberOfPeerUrl(world.cluster, url);
    if (name !== undefined) return name;
    const first = URL.canParse(url) ? new URL(url).hostname.split(".")[0] : undefined;
    const pod = first === undefined ? undefined : pods.get(first);
    if (pod !== undefined) return pod.name;
  }
  return undefined;
}

function stateOf(
  { member, pod, claim, answer, alive }: Omit<Instance, "state" | "name">,
  wiped: boolean,
  world: Facts,
  now: number,
): InstanceState {
  const { crashLoopAfterSeconds } = world.cluster.spec.failover;
  // A learner counts for nothing until it is promoted, so one that has no data is as good as new. A voter may have
  // voted, and acknowledged writes, before etcd learned its name: it must not come back without them.
  const unstarted = member.learner && member.name === "";
  if (pod === undefined) {
    if (unstarted) return { t: "unstarted", lostAt: undefined };
    // With its volume it gets another pod.
    if (claim !== undefined && holds(claim)) return { t: "away", lostAt: undefined };
    return { t: "lost", because: "its pod is gone, and its data with it" };
  }
  // The others serve without it, and which pod it was to run in is not known any more.
  if (pod.gated === true) return { t: "lost", because: "its pod was never allowed to start" };
  if (wiped) return { t: "lost", because: "it came back without its data", wiped: true };
  if (hasLostData(pod)) return { t: "lost", because: "its data is gone, and etcd does not start without", wiped: true };
  const loss = pod.hasVolume && !unstarted ? volumeLossOf(claim) : undefined;
  if (loss !== undefined) {
    const stays = !pod.terminating && pod.state.t !== "ended";
    if (alive) return { t: stays ? "doomed" : "leaving", because: loss };
    // A learner counts for nothing yet; another one copies the data to a volume that stays.
    if (member.learner || !isHeldBy(pod, claim)) return { t: "lost", because: loss };
  } else if (pod.hasVolume) {
    if (unstarted && pod.state.t === "ended" && !pod.terminating)
      return { t: "lost", because: `its pod has ended (${pod.state.problem})` };
    // It comes back on its volume; until then it is not to be counted on.
    if (!unstarted && (pod.terminating || pod.state.t === "ended") && !isNodeLost(pod, world, now))
      return { t: "away", lostAt: nodeLostAt(pod, world) };
  } else {
    // One that never ran and whose pod was deleted gets another under the same name, when it is gone.
    if (pod.state.t === "ended" && !(unstarted && pod.terminating))
      return { t: "lost", because: `its pod has ended (${pod.state.problem})` };
    if (pod.terminating && !(unstarted && !isNodeLost(pod, world, now)))
      return { t: "leaving", because: "its pod is being deleted" };
  }
  if (alive) return { t: "healthy" };
  // A first member of a restored cluster that never ran. The others serve, and the kubelet tries again by itself for a while.
  if (!unstarted && isBeforeItsFirstStart(pod) && problemOf(pod) !== undefined && pod.state.t !== "pending") {
    const until = pod.createdAt + crashLoopAfterSeconds * 1000;
    if (until > now) return { t: "away", lostAt: until };
    return { t: "lost", because: `its data could not be made from the backup (${problemOf(pod)})` };
  }
  if (member.learner && answer !== undefined) return { t: "learning" };
  // The volume of one that waits for a node may be local to one that is gone.
  const at = pod.node.t === "none" && claim !== undefined ? claim.node : pod.node;
  const lostAt = nodeLostAt({ ...pod, node: at }, world);
  if (lostAt !== undefined) return lostAt <= now ? { t: "lost", because: nodeGone(at) } : { t: "away", lostAt };
  // One that was given another version keeps its data, and comes up again with the version that it had before.
  if (pod.state.t === "crashing" && (pod.changedFrom === undefined || loss !== undefined)) {
    const patience = pod.state.since + crashLoopAfterSeconds * 1000;
    // Between two tries a kubelet calls everything a crash loop, also a container that it could not make because it lacks an
    // image or a Secret. So one that has data must have run, and exited again, after the time was up.
    // On a claim that is being deleted a kubelet may not start it again at all.
    if ((unstarted || loss !== undefined ? now : pod.state.exitedAt) >= patience)
      return { t: "lost", because: `its etcd keeps exiting (${pod.state.problem})` };
    return unstarted
      ? { t: "unstarted", lostAt: patience }
      : { t: "away", lostAt: loss === undefined ? undefined : patience };
  }
  return { t: member.name === "" ? "unstarted" : "away", lostAt: undefined };
}

function nodeGone(node: MemberPod["node"]): Reason {
  const name = node.t === "none" ? "" : node.name;
  return name === "" ? "no remaining node can use its volume" : `its node ${name} is gone`;
}

export const isVoter = ({ member }: Instance): boolean => !member.learner;
/** It serves, and nothing is about to end that. */
export const isHealthy = ({ state }: Instance): boolean => state.t === "healthy" || state.t === "doomed";
/** It serves, and its data goes with its pod although it has a volume. */
export const isDoomed = ({ state }: Instance): boolean => state.t === "doomed";

/** How far its log is, as far as it says. */
export const indexOf = ({ answer }: Instance): number => answer?.status.raftIndex ?? 0;

/**
 * It answers, or etcd knows its name: its process has run with data of its own. What is made from a backup knows the names of
 * members that have yet to run.
 */
export const hasStarted = ({ member, answer, pod }: Instance): boolean =>
  answer !== undefined || (member.name !== "" && !(pod !== undefined && isBeforeItsFirstStart(pod)));

/**
 * It is about to run for the first time. One that is held up is not waited for: it has no process that the others could
 * get in the way of, or none that will be of use.
 */
export function isStarting({ state, pod }: Instance, now: number): boolean {
  return state.t === "unstarted" && pod !== undefined && isComingUp(pod, now);
}

/** The same, of one that will run in a moment. */
export function isAboutToServe(instance: Instance, now: number): boolean {
  return isStarting(instance, now) && instance.pod !== undefined && isYoung(instance.pod, now);
}

/**
 * It never ran and has no pod, or one that goes. It gets another one first: whoever starts with it in its list would look
 * it up in vain, and wait for it as long as it waits for its turn.
 */
export function isOwedPod({ pod, state }: Instance): boolean {
  return state.t === "unstarted" && (pod === undefined || pod.terminating);
}

/** Its data is there, and it has no pod, or one that never runs again. */
export function isOwedItsVolume({ state, pod }: Instance): boolean {
  return state.t === "away" && (pod === undefined || (pod.state.t === "ended" && !pod.terminating));
}

export const isPodless = ({ state, pod }: Instance): boolean => state.t === "unstarted" && pod === undefined;
