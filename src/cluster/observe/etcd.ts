// What etcd itself says, in two short rounds: every pod with an address is asked at once how it is, then the most
// advanced one that reads through the quorum is asked for the list of members. Silence costs a second a round, and two
// where nobody expects it. A member that asks for a login that the operator does not have answers, too: it is there.
import type { ClusterId, MemberId } from "../../etcd/ids.ts";
import type { EtcdMember, Member, Membership, MemberStatus } from "../../etcd/member.ts";
import { EtcdError, type EtcdReason } from "../../etcd/errors.ts";
import { isAccessRefusal } from "../../etcd/login.ts";
import { TransportError } from "../../transport/errors.ts";
import type { MemberPool } from "../context.ts";
import { endpointOf, type Reachable } from "../objects/endpoints.ts";
import type { MemberName } from "../objects/names.ts";
import { type LoginSource, troubleWith } from "./login.ts";
import type { EtcdView, MemberAnswer, MemberPod, Unreadable } from "./world.ts";

const roundMs = 1000;

export interface Asking {
  readonly members: MemberPool;
  readonly source: LoginSource;
  /** How a pod is reached. Default: in plain text. */
  readonly reach?: (pod: MemberPod, address: string) => Reachable;
  /** The cluster's id as the status holds it; a pod that answers with another belongs to another cluster. */
  readonly recorded: ClusterId | undefined;
  /** Compares what members answer with what they answered before: those that went backwards. */
  readonly regressed: (answers: Iterable<MemberStatus>, listed: readonly Member[]) => ReadonlySet<MemberId>;
  readonly signal: AbortSignal;
}

interface AskablePod {
  readonly name: MemberName;
  readonly reachable: Reachable;
  /** The kubelet finds it ready, and nobody deletes it. */
  readonly serves: boolean;
}

interface Answered extends MemberAnswer {
  readonly member: EtcdMember;
  /** It told of itself, as some versions do to everybody, and lets us do nothing else. */
  readonly refused: EtcdReason | undefined;
}

/** A pod whose etcd tells us nothing, because of who we are. */
interface Refusing {
  readonly pod: MemberName;
  readonly refused: EtcdReason;
  /** It reads through the quorum. */
  readonly healthy: boolean;
}

/** A pod of which no more is known than that it answers with more than is taken. */
interface Overflowing {
  readonly pod: MemberName;
  readonly refused: undefined;
  readonly healthy: false;
  readonly unreadable: string;
}

type Asked = Answered | Refusing | Overflowing;

const isAnswered = (asked: Asked): asked is Answered => "status" in asked;

export async function observedEtcd(pods: readonly MemberPod[], asking: Asking): Promise<EtcdView> {
  const { reach = (_, address) => ({ address }) } = asking;
  const askable = pods.flatMap((pod) => {
    const { name, address, ready, terminating } = pod;
    return address === undefined ? [] : [{ name, reachable: reach(pod, address), serves: ready && !terminating }];
  });
  if (askable.length === 0) return { t: "nobody" };
  const first = await read(askable, asking);
  const second = (await isWorthAnotherRead(first, asking)) ? await read(askable, asking) : first;
  return withRegressions(second === first ? undisputed(first.view) : second.view, asking);
}

/**
 * The list is younger than the answers, and the answers are not of one moment. Members that found their quorum between
 * the two would look as if they had lost it; around an election two leaders are named, the old one and the new.
 */
async function isWorthAnotherRead({ view, leaderless }: EtcdRead, asking: Asking): Promise<boolean> {
  return rivalsIn(view).length > 0 || hasFoundLeader(leaderless, asking);
}

const rivalsIn = (view: EtcdView): readonly MemberId[] => ("rivals" in view ? view.rivals : []);

const undisputed = (view: EtcdView): EtcdView => ("rivals" in view ? { ...view, rivals: [] } : view);

/** Only a list that the quorum stands behind says who is a member. */
function withRegressions(view: EtcdView, { regressed }: Asking): EtcdView {
  if (view.t !== "quorum") return view;
  const statuses = [...view.answers.values()].map(({ status }) => status);
  return { ...view, wiped: regressed(statuses, view.members) };
}

interface EtcdRead {
  readonly view: EtcdView;
  /** The voters that could decide nothing and knew of nobody who could. */
  readonly leaderless: readonly Answered[];
}

async function read(askable: readonly AskablePod[], asking: Asking): Promise<EtcdRead> {
  const asked = (await Promise.all(askable.map((pod) => ask(pod, asking)))).filter((one) => one !== undefined);
  const out = accessDenied(asked, asking);
  if (out !== undefined) return { view: out, leaderless: [] };
  const answered = asked.filter(isAnswered);
  const unreadable = unreadableIn(asked);
  if (answered.length === 0)
    return { view: { t: "silent", tried: askable.map(({ name }) => name), ...unreadable }, leaderless: [] };

  const clusterId = asking.recorded ?? commonest(answered);
  const ours = answered.filter(({ status }) => status.clusterId === clusterId);
  const healthy = ours.filter((one) => one.healthy);
  const leaders = new Set(healthy.flatMap(({ status: { leader } }) => (leader === undefined ? [] : [leader])));
  const known = {
    clusterId,
    answers: new Map<MemberId, MemberAnswer>(
      ours.map(({ pod, status, healthy }) => [status.memberId, { pod, status, healthy }] as const),
    ),
    strangers: answered
      .filter(({ status }) => status.clusterId !== clusterId)
      .map(({ pod, status }) => ({ pod, clusterId: status.clusterId })),
    ...unreadable,
    wiped: new Set<MemberId>(),
    rivals: leaders.size > 1 ? [...leaders] : [],
  };
  const agreed = await firstList(mostAdvancedFirst(healthy), true, asking.signal);
  if (agreed instanceof EtcdError) return { view: accessDeniedBy(asked, agreed.reason, asking), leaderless: [] };
  if (agreed !== undefined) return { view: { t: "quorum", ...known, members: agreed.members }, leaderless: [] };
  const voters = ours.filter(({ status }) => !status.learner);
  const remembered = await firstList(mostAdvancedFirst(voters), false, asking.signal);
  if (remembered instanceof EtcdError)
    return { view: accessDeniedBy(asked, remembered.reason, asking), leaderless: [] };
  return {
    view: { t: "noQuorum", ...known, members: remembered?.members ?? [] },
    leaderless: voters.filter(({ status }) => status.leader === undefined),
  };
}

function unreadableIn(asked: readonly Asked[]): { unreadable?: Unreadable } {
  const unreadable = new Map(asked.flatMap((one) => ("unreadable" in one ? [[one.pod, one.unreadable]] : [])));
  return unreadable.size === 0 ? {} : { unreadable };
}

/** Refused by one at least, and let in by none. Learners and members without a quorum come to refuse nobody. */
function accessDenied(asked: readonly Asked[], asking: Asking): EtcdView | undefined {
  const refusing = asked.filter(({ refused }) => refused !== undefined);
  const [first] = refusing;
  if (first?.refused === undefined || asked.some(({ healthy, refused }) => healthy && refused === undefined))
    return undefined;
  return accessDeniedBy(refusing, first.refused, asking);
}

/** Authentication may be turned on between the answers and the list: those that answered then refuse, and none is lost. */
function accessDeniedBy(asked: readonly Asked[], refused: EtcdReason, { source }: Asking): EtcdView {
  const refusing = asked.filter((one) => !("unreadable" in one));
  return {
    t: "accessDenied",
    trouble: troubleWith(source, refused),
    refusing: refusing.map(({ pod }) => pod),
    serving: refusing.filter(({ healthy }) => healthy).map(({ pod }) => pod),
  };
}

/** A member tells of its leader without asking anybody, so this costs no time where there is none. */
async function hasFoundLeader(leaderless: readonly Answered[], { signal }: Asking): Promise<boolean> {
  const call = { deadline: roundMs / 2, signal };
  const statuses = await Promise.all(leaderless.map(({ member }) => member.status(call).catch(orNothing)));
  return statuses.some((status) => status?.leader !== undefined);
}

/**
 * On a busy machine a member may be late for once. Its kubelet, which asks more patiently, still finds it ready, so it is
 * asked again before it counts as unhealthy. One that knows of no leader could not do better.
 */
async function ask(pod: AskablePod, asking: Asking): Promise<Asked | undefined> {
  const first = await askOnce(pod, asking);
  return pod.serves && isLate(first) ? askOnce(pod, asking) : first;
}

function isLate(asked: Asked | undefined): boolean {
  if (asked !== undefined && "unreadable" in asked) return false;
  if (asked === undefined || !isAnswered(asked)) return asked?.healthy !== true;
  return !asked.healthy && !asked.status.learner && asked.status.leader !== undefined;
}

async function askOnce(pod: AskablePod, { members, source, signal }: Asking): Promise<Asked | undefined> {
  const login = source.t === "given" ? source.login : undefined;
  const member = members.at(endpointOf({ ...pod.reachable, login }));
  const call = { deadline: roundMs, signal };
  const [status, health] = await Promise.all([member.status(call).catch(orObserved), member.health(call)]);
  const healthy = health.t === "healthy";
  if (status instanceof TransportError)
    return { pod: pod.name, refused: undefined, healthy: false, unreadable: status.message };
  if (status instanceof EtcdError) return { pod: pod.name, refused: status.reason, healthy };
  if (status === undefined) return undefined;
  const refused = healthy ? health.refused?.reason : undefined;
  return { pod: pod.name, member, status, healthy: healthy && !status.learner, refused };
}

/** Asks one or two, in turn: the first may have died since. An error: we are refused, because of who we are. */
async function firstList(
  of: readonly Answered[],
  linearizable: boolean,
  signal: AbortSignal,
): Promise<Membership | EtcdError | undefined> {
  for (const { member } of of.slice(0, 2)) {
    const list = await member.memberList({ linearizable }, { deadline: roundMs / 2, signal }).catch(orRefusal);
    if (list !== undefined) return list;
  }
  return undefined;
}

/**
 * A member that started again without its data may lead a cluster of its own for a moment, under the same ids. Its term
 * is lower than that of the others or, when it led them before and they have not noticed yet, its index is. Of members
 * that are about as far, the leader is asked first: the answers are not of one moment.
 */
function mostAdvancedFirst(answered: readonly Answered[]): readonly Answered[] {
  const furthest = Math.max(0, ...answered.map(({ status }) => status.raftIndex));
  const rank = ({ status }: Answered): number => {
    if (status.raftIndex * 2 < furthest) return 2;
    return status.leader === status.memberId ? 0 : 1;
  };
  return answered.toSorted((a, b) => b.status.raftTerm - a.status.raftTerm || rank(a) - rank(b));
}

/** Before an id is recorded there is one member, so there is nothing to choose; this is for what nobody expects. */
function commonest(answered: readonly Answered[]): ClusterId {
  const counts = new Map<ClusterId, number>();
  for (const { status } of answered) counts.set(status.clusterId, (counts.get(status.clusterId) ?? 0) + 1);
  const [[first] = []] = [...counts].toSorted(([, a], [, b]) => b - a);
  if (first === undefined) throw new RangeError("nobody answered");
  return first;
}

/** Also an answer that is more than is taken. */
function orObserved(error: unknown): EtcdError | TransportError | undefined {
  return error instanceof TransportError && error.failure === "tooLarge" ? error : orRefusal(error);
}

function orRefusal(error: unknown): EtcdError | undefined {
  return isAccessRefusal(error) ? error : orNothing(error);
}

/** A member that refuses or does not answer is an observation; anything else is a fault of ours. */
function orNothing(error: unknown): undefined {
  if (error instanceof EtcdError || error instanceof TransportError) return undefined;
  throw error;
}
