// What etcd itself says, in two short rounds: every pod with an address is asked at once how it is, then one that reads
// through the quorum is asked for the list of members. Silence costs a second a round, and two where nobody expects it.
import type { ClusterId, MemberId } from "../../etcd/ids.ts";
import type { EtcdMember, Membership, MemberStatus } from "../../etcd/member.ts";
import { EtcdError } from "../../etcd/errors.ts";
import { TransportError } from "../../transport/errors.ts";
import type { MemberPool } from "../context.ts";
import { ports } from "../objects/labels.ts";
import type { EtcdView, MemberAnswer, MemberPod } from "./world.ts";

const roundMs = 1000;

export interface Asking {
  readonly members: MemberPool;
  /** The cluster's id as the status holds it; a pod that answers with another belongs to another cluster. */
  readonly latched: ClusterId | undefined;
  readonly signal: AbortSignal;
}

interface AskablePod {
  readonly name: string;
  readonly address: string;
  /** By its kubelet's word, and nobody wants it to go. */
  readonly serves: boolean;
}

/** What one pod answered. */
interface Answered extends MemberAnswer {
  readonly pod: string;
  readonly member: EtcdMember;
}

export async function observedEtcd(pods: readonly MemberPod[], asking: Asking): Promise<EtcdView> {
  const askable = pods.flatMap(({ name, address, ready, terminating }) =>
    address === undefined ? [] : [{ name, address, serves: ready && !terminating }],
  );
  if (askable.length === 0) return { t: "nobody" };
  const { view, leaderless } = await look(askable, asking);
  // The list is younger than the answers. One that found its quorum between the two would look as if it had lost it.
  return (await hasFoundLeader(leaderless, asking)) ? (await look(askable, asking)).view : view;
}

interface Look {
  readonly view: EtcdView;
  /** The voters that could decide nothing and knew of nobody who could. */
  readonly leaderless: readonly Answered[];
}

async function look(askable: readonly AskablePod[], asking: Asking): Promise<Look> {
  const answered = (await Promise.all(askable.map((pod) => ask(pod, asking)))).filter((one) => one !== undefined);
  if (answered.length === 0) return { view: { t: "silent", tried: askable.map(({ name }) => name) }, leaderless: [] };

  const clusterId = asking.latched ?? commonest(answered);
  const ours = answered.filter(({ status }) => status.clusterId === clusterId);
  const known = {
    clusterId,
    answers: new Map<MemberId, MemberAnswer>(
      ours.map(({ status, healthy }) => [status.memberId, { status, healthy }] as const),
    ),
    strangers: answered
      .filter(({ status }) => status.clusterId !== clusterId)
      .map(({ pod, status }) => ({ pod, clusterId: status.clusterId })),
  };
  const agreed = await firstList(leaderFirst(ours.filter(({ healthy }) => healthy)), true, asking.signal);
  if (agreed !== undefined) return { view: { t: "quorum", ...known, members: agreed.members }, leaderless: [] };
  const voters = ours.filter(({ status }) => !status.learner);
  const remembered = await firstList(voters, false, asking.signal);
  return {
    view: { t: "noQuorum", ...known, members: remembered?.members ?? [] },
    leaderless: voters.filter(({ status }) => status.leader === undefined),
  };
}

/** A member tells of its leader without asking anybody, so this costs no time where there is none. */
async function hasFoundLeader(leaderless: readonly Answered[], { signal }: Asking): Promise<boolean> {
  const call = { deadline: roundMs / 2, signal };
  const statuses = await Promise.all(leaderless.map(({ member }) => member.status(call).catch(orNothing)));
  return statuses.some((status) => status?.leader !== undefined);
}

export function memberUrl(address: string): string {
  return `http://${address.includes(":") ? `[${address}]` : address}:${ports.client}`;
}

/**
 * On a busy machine a member may be late for once. Its kubelet, which asks more patiently, still finds it ready, so it is
 * asked again before anybody is told that it is unwell. One that knows of no leader could not do better.
 */
async function ask(pod: AskablePod, asking: Asking): Promise<Answered | undefined> {
  const first = await askOnce(pod, asking);
  const isLate = first === undefined || (!first.healthy && !first.status.learner && first.status.leader !== undefined);
  return pod.serves && isLate ? askOnce(pod, asking) : first;
}

async function askOnce(pod: AskablePod, { members, signal }: Asking): Promise<Answered | undefined> {
  const member = members.at({ url: memberUrl(pod.address) });
  const call = { deadline: roundMs, signal };
  const [status, health] = await Promise.all([member.status(call).catch(orNothing), member.health(call)]);
  if (status === undefined) return undefined;
  return { pod: pod.name, member, status, healthy: health.t === "healthy" && !status.learner };
}

/** Of one or two, in turn: the first may have died since. */
async function firstList(
  of: readonly Answered[],
  linearizable: boolean,
  signal: AbortSignal,
): Promise<Membership | undefined> {
  for (const { member } of of.slice(0, 2)) {
    const list = await member.memberList({ linearizable }, { deadline: roundMs / 2, signal }).catch(orNothing);
    if (list !== undefined) return list;
  }
  return undefined;
}

function leaderFirst(answered: readonly Answered[]): readonly Answered[] {
  const leads = ({ status }: { status: MemberStatus }): number => (status.leader === status.memberId ? 0 : 1);
  return answered.toSorted((a, b) => leads(a) - leads(b));
}

/** Before an id is latched there is one member, so there is nothing to choose; this is for what nobody expects. */
function commonest(answered: readonly Answered[]): ClusterId {
  const counts = new Map<ClusterId, number>();
  for (const { status } of answered) counts.set(status.clusterId, (counts.get(status.clusterId) ?? 0) + 1);
  const [[first] = []] = [...counts].toSorted(([, a], [, b]) => b - a);
  if (first === undefined) throw new RangeError("nobody answered");
  return first;
}

/** A member that refuses or does not answer is an observation; anything else is a fault of ours. */
function orNothing(error: unknown): undefined {
  if (error instanceof EtcdError || error instanceof TransportError) return undefined;
  throw error;
}
