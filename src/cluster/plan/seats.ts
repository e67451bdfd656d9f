// Each member that etcd lists, with its pod and its answer, and how it is: the one place that turns what is seen into
// what it means. Nothing here decides what is done about it.
import type { Member } from "../../etcd/member.ts";
import type { MemberName, Reason } from "./actions.ts";
import { memberOfPeerUrl } from "../objects/names.ts";
import type { EtcdAnswers, MemberAnswer, MemberPod, World } from "../observe/world.ts";

export interface Seat {
  readonly member: Member;
  /** The name of its pod, whether there is one or not; of one that is not ours, whatever etcd knows. */
  readonly name: MemberName;
  readonly pod: MemberPod | undefined;
  readonly answer: MemberAnswer | undefined;
  /** A voter that reads through the quorum right now, even if it is about to go. */
  readonly alive: boolean;
  readonly state: SeatState;
}

export type SeatState =
  /** A voter that serves and stays. */
  | { readonly t: "healthy" }
  /** A learner whose process answers. */
  | { readonly t: "learning" }
  /** Listed, and its etcd has never run, as far as etcd knows: it has no data that could be lost. */
  | { readonly t: "unstarted"; readonly lostAt: number | undefined }
  /** Its data is there and it may come back; from `lostAt` on it counts as lost. */
  | { readonly t: "away"; readonly lostAt: number | undefined }
  /** Its pod is being deleted, and its data with it. It may serve for another second. */
  | { readonly t: "leaving"; readonly because: Reason }
  /** It will not come back. */
  | { readonly t: "lost"; readonly because: Reason }
  /** Not one of our pods, and so not one that we can look after. */
  | { readonly t: "foreign" }
  /** Its pod answers as a member of another cluster. A person has to see what it holds; nothing is done to it. */
  | { readonly t: "stranger" };

export function seatsOf(world: World, etcd: EtcdAnswers, now: number): readonly Seat[] {
  const pods = new Map(world.pods.map((pod) => [pod.name, pod]));
  const strangers = new Set(etcd.strangers.map(({ pod }) => pod));
  return etcd.members.map((member) => {
    const ours = podNameOf(world, member, pods);
    const name = ours ?? (member.name || member.id);
    const pod = ours === undefined ? undefined : pods.get(ours);
    const answer = etcd.answers.get(member.id);
    const seat = { member, name, pod, answer, alive: !member.learner && answer?.healthy === true };
    if (ours === undefined) return { ...seat, state: { t: "foreign" } };
    if (strangers.has(name)) return { ...seat, state: { t: "stranger" } };
    return { ...seat, state: stateOf(seat, world, now) };
  });
}

/** Undefined when the member is none of ours. Older operators wrote other URLs, whose first label is a pod all the same. */
function podNameOf(world: World, { peerUrls }: Member, pods: ReadonlyMap<string, MemberPod>): MemberName | undefined {
  for (const url of peerUrls) {
    const name = memberOfPeerUrl(world.cluster, url);
    if (name !== undefined) return name;
    const first = URL.canParse(url) ? new URL(url).hostname.split(".")[0] : undefined;
    if (first !== undefined && pods.has(first)) return first;
  }
  return undefined;
}

function stateOf({ member, pod, answer, alive }: Omit<Seat, "state" | "name">, world: World, now: number): SeatState {
  const { crashLoopAfterSeconds } = world.cluster.spec.failover;
  // A learner counts for nothing until it is promoted, so one that has no data is as good as new. A voter may have
  // voted, and acknowledged writes, before etcd learned its name: it must not come back without them.
  const unstarted = member.learner && member.name === "";
  if (pod === undefined) {
    if (unstarted) return { t: "unstarted", lostAt: undefined };
    // Its volume may hold everything. Nothing makes such pods yet.
    if (world.cluster.spec.pod.persistentVolumeClaimSpec !== undefined) return { t: "away", lostAt: undefined };
    return { t: "lost", because: "its pod is gone, and its data with it" };
  }
  if (!pod.hasVolume) {
    // One that never ran and whose pod was told to end gets another under the same name, when it is gone.
    if (pod.state.t === "ended" && !(unstarted && pod.terminating))
      return { t: "lost", because: `its pod has ended (${pod.state.problem})` };
    if (pod.terminating && !(unstarted && !isNodeLost(pod, world, now)))
      return { t: "leaving", because: "its pod is being deleted" };
  }
  if (alive) return { t: "healthy" };
  if (member.learner && answer !== undefined) return { t: "learning" };
  const lostAt = pod.hasVolume ? undefined : nodeLostAt(pod, world);
  if (lostAt !== undefined)
    return lostAt <= now ? { t: "lost", because: `its node ${nodeName(pod)} is gone` } : { t: "away", lostAt };
  if (pod.state.t === "crashing" && !pod.hasVolume) {
    const patience = pod.state.since + crashLoopAfterSeconds * 1000;
    if (patience <= now) return { t: "lost", because: `its etcd keeps ending (${pod.state.problem})` };
    return { t: unstarted ? "unstarted" : "away", lostAt: patience };
  }
  return { t: member.name === "" ? "unstarted" : "away", lostAt: undefined };
}

const nodeName = ({ node }: MemberPod): string => (node.t === "none" ? "" : node.name);

/** When a pod counts as lost with its node; undefined while its node is well. */
function nodeLostAt({ node, createdAt }: MemberPod, { cluster }: Pick<World, "cluster">): number | undefined {
  const patience = cluster.spec.failover.unreachableAfterSeconds * 1000;
  if (node.t === "silent") return node.since + patience;
  // A pod may be younger than what is known of nodes, so without a time of its own it must be old enough itself.
  return node.t === "gone" ? (node.since ?? createdAt) + patience : undefined;
}

/** There is no kubelet left that could end the pod, and none is expected back. */
export function isNodeLost(pod: MemberPod, world: Pick<World, "cluster">, now: number): boolean {
  const at = nodeLostAt(pod, world);
  return at !== undefined && at <= now;
}
