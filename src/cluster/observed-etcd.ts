// What etcd itself says, in two short rounds: every pod with an address is asked at once how it is, then one that reads
// through the quorum is asked for the list of members. Silence costs a second a round and no more.
import type { ClusterId, MemberId } from "../etcd/ids.ts";
import type { EtcdMember, Membership, MemberStatus } from "../etcd/member.ts";
import { EtcdError } from "../etcd/errors.ts";
import { TransportError } from "../transport/errors.ts";
import type { MemberPool } from "./context.ts";
import { ports } from "./labels.ts";
import type { EtcdView, MemberAnswer, MemberPod } from "./world.ts";

const roundMs = 1000;

export interface Asking {
  readonly members: MemberPool;
  /** The cluster's id as the status holds it; a pod that answers with another belongs to another cluster. */
  readonly latched: ClusterId | undefined;
  readonly signal: AbortSignal;
}

/** What one pod answered. */
interface Answered extends MemberAnswer {
  readonly pod: string;
  readonly member: EtcdMember;
}

export async function observedEtcd(pods: readonly MemberPod[], asking: Asking): Promise<EtcdView> {
  const askable = pods.flatMap(({ name, address }) => (address === undefined ? [] : [{ name, address }]));
  if (askable.length === 0) return { t: "nobody" };
  const answered = (await Promise.all(askable.map((pod) => ask(pod, asking)))).filter((one) => one !== undefined);
  if (answered.length === 0) return { t: "silent", tried: askable.map(({ name }) => name) };

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
  if (agreed !== undefined) return { t: "quorum", ...known, members: agreed.members };
  const voters = ours.filter(({ status }) => !status.learner);
  const remembered = await firstList(voters, false, asking.signal);
  return { t: "noQuorum", ...known, members: remembered?.members ?? [] };
}

export function memberUrl(address: string): string {
  return `http://${address.includes(":") ? `[${address}]` : address}:${ports.client}`;
}

async function ask(
  pod: { readonly name: string; readonly address: string },
  { members, signal }: Asking,
): Promise<Answered | undefined> {
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
