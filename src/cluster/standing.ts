// How a cluster stands as a whole: whether it serves, and if not, whether it will again by itself. Status, conditions
// and events all say what is concluded here.
import type { Member } from "../etcd/member.ts";
import { quorum } from "./safety.ts";
import type { EtcdAnswers, MemberPod, World } from "./world.ts";

export type Standing =
  /** No member has ever answered. */
  | { readonly t: "creating" }
  | { readonly t: "serving"; readonly members: Standings }
  /** Enough voters answer and have no leader at this moment. */
  | { readonly t: "electing"; readonly members: Standings }
  /** Too few answer, and enough pods are there to come back. */
  | { readonly t: "quorumLost"; readonly answering: number; readonly voters: number }
  /** Too few pods are left that hold data: no waiting helps. */
  | { readonly t: "dataLost"; readonly left: number; readonly voters: number };

export interface Standings {
  readonly all: readonly Member[];
  /** Of these the healthy ones; the others are `lost`. */
  readonly voters: readonly Member[];
  readonly healthy: readonly Member[];
  readonly learners: readonly Member[];
  /** By name, or by id of those that never told theirs. */
  readonly lost: readonly string[];
}

export function standingOf(world: World): Standing {
  const { etcd, cluster, pods } = world;
  if (etcd.t === "quorum") return { t: "serving", members: standings(etcd) };
  if (etcd.t === "noQuorum") {
    const members = standings(etcd);
    const voters = members.voters.length || lastKnownSize(world);
    const answering = members.voters.filter(({ id }) => etcd.answers.has(id)).length;
    // 3 voters, 2 answer: they can elect a leader, and do within a second or two. 1 answers: it never can alone.
    if (members.voters.length > 0 && answering >= quorum(voters)) return { t: "electing", members };
    return lost(answering, voters, pods, members.voters);
  }
  if (cluster.status.clusterId === undefined) return { t: "creating" };
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

function standings({ members, answers }: EtcdAnswers): Standings {
  const voters = members.filter((member) => !member.learner);
  const healthy = voters.filter(({ id }) => answers.get(id)?.healthy === true);
  return {
    all: members,
    voters,
    healthy,
    learners: members.filter((member) => member.learner),
    lost: voters.filter((voter) => !healthy.includes(voter)).map(({ name, id }) => name || id),
  };
}
