// One turn of acting: the world that the plan was made from, and what the actions have changed of it since.
import type { CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster.ts";
import type { MemberId } from "../../etcd/ids.ts";
import type { EtcdMember, Member } from "../../etcd/member.ts";
import type { ReconcileContext } from "../../kube/controller/reconcile.ts";
import type { ClusterContext } from "../context.ts";
import { memberUrl } from "../observe/etcd.ts";
import { NotYet } from "./outcome.ts";
import type { EtcdAnswers, World } from "../observe/world.ts";

export interface Turn {
  readonly world: World;
  readonly pass: ReconcileContext;
  readonly context: ClusterContext;
  readonly cluster: CompleteEtcdCluster;
  /** As etcd listed them last. */
  members: readonly Member[];
  /** The object as this turn wrote it last, if it did. */
  written: EtcdCluster | undefined;
}

export function turnOf(world: World, pass: ReconcileContext, context: ClusterContext): Turn {
  const members = "members" in world.etcd ? world.etcd.members : [];
  return { world, pass, context, cluster: world.cluster, members, written: undefined };
}

/** Whoever changes members has read them through the quorum in the same pass. */
export function throughQuorum({ world }: Turn): EtcdAnswers {
  if (world.etcd.t === "quorum") return world.etcd;
  throw new NotYet("the members cannot be changed without a quorum", 500);
}

/** The leader if it can be, since some versions are wrong about promotion elsewhere; never the one that shall go. */
export function voterToAsk(turn: Turn, without?: MemberId): EtcdMember {
  const { members, answers } = throughQuorum(turn);
  const candidates = members.filter(({ id }) => id !== without && answers.get(id)?.healthy === true);
  const leader = candidates.find(({ id }) => answers.get(id)?.status.leader === id);
  for (const candidate of leader === undefined ? candidates : [leader, ...candidates]) {
    const found = portTo(turn, candidate);
    if (found !== undefined) return found;
  }
  throw new NotYet("no healthy voter can be asked", 500);
}

export function portTo(turn: Turn, member: Member): EtcdMember | undefined {
  const address = turn.world.pods.find((pod) => pod.name === member.name)?.address;
  return address === undefined ? undefined : turn.context.members.at({ url: memberUrl(address) });
}
