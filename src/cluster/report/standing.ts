// How a cluster stands as a whole: whether it serves, and if not, whether it will again by itself. Status, conditions
// and events all say what is concluded here.
import type { ClusterId } from "../../etcd/ids.ts";
import type { Member } from "../../etcd/member.ts";
import { isKnownToHaveServed, quorum } from "../plan/safety.ts";
import type { EtcdAnswers, EtcdView, MemberPod, World } from "../observe/world.ts";

export type Standing =
  /** No member has ever answered. */
  | { readonly t: "creating" }
  | { readonly t: "serving"; readonly members: Standings }
  /** Enough voters answer and have no leader at this moment. */
  | { readonly t: "electing"; readonly members: Standings }
  /** A voter that never ran yet is needed for a majority: so it is for a moment where etcd knows no learners. */
  | { readonly t: "joining"; readonly members: Standings }
  /** All that answer are members of another cluster than the status says that this one is. */
  | { readonly t: "foreign"; readonly answering: ClusterId; readonly latched: ClusterId }
  /** Too few answer, and enough pods are there to come back. */
  | { readonly t: "quorumLost"; readonly answering: number; readonly voters: number }
  /** Too few pods are left that hold data: no waiting helps. */
  | { readonly t: "dataLost"; readonly left: number; readonly voters: number };

export interface Standings {
  readonly all: readonly Member[];
  readonly voters: readonly Member[];
  readonly healthy: readonly Member[];
  readonly learners: readonly Member[];
  /** By name: voters that were there once and are of no use now. */
  readonly lost: readonly string[];
}

type Answering = Extract<EtcdView, EtcdAnswers>;

export function standingOf(world: World): Standing {
  const { etcd, cluster, pods } = world;
  if (etcd.t === "quorum") return { t: "serving", members: standings(etcd, pods) };
  if (etcd.t === "noQuorum") {
    const [stranger] = etcd.strangers;
    if (etcd.answers.size === 0 && stranger !== undefined)
      return { t: "foreign", answering: stranger.clusterId, latched: etcd.clusterId };
    const members = standings(etcd, pods);
    const voters = members.voters.length || lastKnownSize(world);
    const answering = members.voters.filter(({ id }) => etcd.answers.has(id)).length;
    // 3 voters, 2 answer: they can elect a leader, and do within a second or two. 1 answers: it never can alone.
    if (members.voters.length > 0 && answering >= quorum(voters)) return { t: "electing", members };
    const unstarted = members.voters.filter(({ name }) => name === "").length;
    // 2 voters, one of them new: 1 answers, and 1 + 1 ≥ quorum(2) = 2. It had no data that could be lost.
    if (unstarted > 0 && answering + unstarted >= quorum(voters)) return { t: "joining", members };
    return lost(answering, voters, pods, members.voters);
  }
  if (!isKnownToHaveServed(cluster.status)) return { t: "creating" };
  return lost(0, lastKnownSize(world), pods, undefined);
}

function lost(
  answering: number,
  voters: number,
  pods: readonly MemberPod[],
  known: readonly Member[] | undefined,
): Standing {
  const names = known && new Set(known.map(({ name }) => name));
  const left = pods.filter((pod) => holdsData(pod) && (names === undefined || names.size === 0 || names.has(pod.name)));
  if (left.length < quorum(voters)) return { t: "dataLost", left: left.length, voters };
  return { t: "quorumLost", answering, voters };
}

/** A volume outlives its pod; without one, a pod that ends takes the data with it. */
function holdsData(pod: MemberPod): boolean {
  return pod.hasVolume || (pod.state.t !== "ended" && !pod.terminating && pod.node.t !== "gone");
}

const lastKnownSize = ({ cluster }: World): number => Math.max(1, cluster.status.size);

function standings({ t, members, answers }: Answering, pods: readonly MemberPod[]): Standings {
  const voters = members.filter((member) => !member.learner);
  const healthy = voters.filter(({ id }) => answers.get(id)?.healthy === true);
  return {
    all: members,
    voters,
    healthy,
    learners: members.filter((member) => member.learner),
    // Without a leader nobody is healthy, and those that answer will be. One without a name has yet to join, and one
    // that never served yet has nothing that could be lost.
    lost: voters
      .filter(({ id, name }) => name !== "" && (t === "quorum" ? answers.get(id)?.healthy !== true : !answers.has(id)))
      .map(({ name }) => name)
      .filter((name) => !pods.some((pod) => pod.name === name && isComingUp(pod))),
  };
}

/** A vote may be given to one that does not answer yet. */
const isComingUp = ({ ready, readyOnce, state }: MemberPod): boolean =>
  state.t === "running" && !ready && readyOnce !== true;
