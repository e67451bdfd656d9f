// Whether the pods of a cluster are that many healthy voters: by etcd's own word, asked of every member through the
// quorum, and by nobody's status. Ours and the floor are counted in the same way.
import type { EtcdMember, Member } from "../../src/etcd/member.ts";
import type { Endpoint, EtcdMembers } from "../../src/etcd/members.ts";
import type { Pod } from "../../src/kube/objects/kinds.ts";
import { appliedIndexAt } from "./applied.ts";

export interface Voter {
  readonly name: string;
  readonly uid: string;
  readonly etcd: EtcdMember;
}

/** A member that does not answer in this time is asked again. */
export const answerWithinMs = 500;

/** How a pod is reached. */
export type Reach = (address: string, pod: string) => Endpoint;

const inPlainText: Reach = (address) => ({ url: `http://${address}:2379` });

/** The voters, or why not. Pods that still go count as there. */
export async function findVoters(
  pods: readonly Pod[],
  size: number,
  members: EtcdMembers,
  reach: Reach = inPlainText,
): Promise<readonly Voter[] | string> {
  if (pods.length !== size) return `${pods.length} pods`;
  const voters: Voter[] = [];
  const names = pods.map(nameOf);
  // The newest is the last to serve: until it does, a poll costs one request.
  for (const pod of pods.toSorted(newestFirst)) {
    const address = pod.status?.podIP;
    if (!address) return `${nameOf(pod)} has no address`;
    const etcd = members.at(reach(address, nameOf(pod)));
    const list = await etcd.memberList({ linearizable: true }, { deadline: answerWithinMs }).catch(textOf);
    if (typeof list === "string") return `${nameOf(pod)}: ${list}`;
    const complaint = complaintAbout(list.members, names);
    if (complaint !== undefined) return `${nameOf(pod)}: ${complaint}`;
    voters.push({ name: nameOf(pod), uid: pod.metadata?.uid ?? "", etcd });
  }
  return voters;
}

export interface Whole {
  /** A member that serves all the time. */
  readonly through: EtcdMember;
  /** What everybody must have applied of the raft log. */
  readonly index: number;
}

/** The same of voters that need not serve yet: listed by one that does, and by their own metrics they hold all data. */
export async function findData(
  pods: readonly Pod[],
  size: number,
  { through, index }: Whole,
): Promise<readonly string[] | string> {
  if (pods.length !== size) return `${pods.length} pods`;
  const names = pods.map(nameOf);
  const list = await through.memberList({ linearizable: true }, { deadline: answerWithinMs }).catch(textOf);
  if (typeof list === "string") return list;
  const complaint = complaintAbout(list.members, names);
  if (complaint !== undefined) return complaint;
  for (const pod of pods.toSorted(newestFirst)) {
    const applied = await appliedIndexAt(pod.status?.podIP ?? "", answerWithinMs);
    if (typeof applied === "string" || applied < index) return `${nameOf(pod)} at ${applied} of ${index}`;
  }
  return names;
}

/** The list must be these names, and nobody of them a learner. */
export function complaintAbout(listed: readonly Member[], names: readonly string[]): string | undefined {
  const voting = listed.filter(({ learner }) => !learner).map(({ name }) => name);
  if (voting.length !== listed.length) return `${listed.length - voting.length} of ${listed.length} are learners`;
  return voting.toSorted().join() === names.toSorted().join() ? undefined : `the voters are ${voting.join(", ")}`;
}

export interface Roles {
  readonly leader: Voter;
  readonly follower: Voter;
}

/** The leader, and one of the followers. */
export async function rolesOf(voters: readonly Voter[]): Promise<Roles> {
  const leading = await Promise.all(
    voters.map(async ({ etcd }) => {
      const { leader, memberId } = await etcd.status();
      return leader === memberId;
    }),
  );
  const leader = voters.find((_, index) => leading[index] === true);
  const follower = voters.find((_, index) => leading[index] === false);
  if (leader === undefined || follower === undefined)
    throw new Error(`${voters.map(({ name }) => name).join(", ")} are no leader and followers`);
  return { leader, follower };
}

const nameOf = ({ metadata }: Pod): string => metadata?.name ?? "";
const madeAt = ({ metadata }: Pod): string => metadata?.creationTimestamp ?? "";
const newestFirst = (a: Pod, b: Pod): number => madeAt(b).localeCompare(madeAt(a));
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
