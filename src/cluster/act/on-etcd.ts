// What is done to etcd's membership, one function an action. Each may be repeated.
import { EtcdError, type EtcdReason } from "../../etcd/errors.ts";
import type { EtcdMember, NewMember } from "../../etcd/member.ts";
import { type EtcdVersion, oldestVersion, parseVersion } from "../../etcd/versions/version.ts";
import type { ListedMember } from "../objects/first-start.ts";
import { type MemberName, memberOfPeerUrl, peerUrlOf, placeholderUrlOf } from "../objects/names.ts";
import { schemeOf } from "../objects/tls.ts";
import type { ActionOf } from "../plan/actions.ts";
import { confirmAdmission } from "./joining-pod.ts";
import { type ClusterExecution, fenced, portTo, voterToAsk, votersToAsk } from "./execution.ts";
import { askingEtcd } from "./outcome.ts";
import { delays } from "../../controllers/delays.ts";
import { NotYet } from "../../controllers/obstacle.ts";

export async function addMember(
  execution: ClusterExecution,
  { member, as, placeholder }: ActionOf<"addMember">,
): Promise<void> {
  const { cluster, members } = execution;
  if (members.some(({ peerUrls }) => peerUrls.some((url) => memberOfPeerUrl(cluster, url) === member))) return;
  const scheme = schemeOf(execution.assessment.desired.tls?.peer === "tls");
  const peerUrl = placeholder === true ? placeholderUrlOf(cluster, member) : peerUrlOf(cluster, member, scheme);
  // A voter without a process counts against the quorum: one of two would end all writes. A learner can wait for its pod.
  if (as === "voter") await confirmAdmission(execution, member, peerUrl);
  const peerUrls = [peerUrl];
  const wanted: NewMember = as === "voter" ? { as, peerUrls } : { as, peerUrls, oldestServer: oldestServer(execution) };
  const added = await askingEach(votersToAsk(execution), (asked) => asked.memberAdd(wanted, fenced(execution)));
  execution.members = added.members;
}

export async function promote(execution: ClusterExecution, { id }: ActionOf<"promote">): Promise<void> {
  const asked = voterToAsk(execution, id);
  const list = await askingEtcd(asked.memberPromote(id, fenced(execution))).catch(already("notALearner"));
  if (list !== undefined) execution.members = list;
}

export async function updatePeerUrl(
  execution: ClusterExecution,
  { id, member }: ActionOf<"updatePeerUrl">,
): Promise<void> {
  const asked = voterToAsk(execution);
  // An etcd that restarts would not know any more who votes; see plan/rules/together.ts.
  if (execution.members.some((known) => known.id === id && known.learner)) throw new NotYet(`${member} is a learner`);
  const speaks = execution.assessment.instances.find((instance) => instance.member.id === id)?.pod?.tls.peer;
  const peerUrls = [peerUrlOf(execution.cluster, member, schemeOf(speaks === "tls"))];
  execution.members = await askingEtcd(asked.memberUpdate(id, peerUrls, fenced(execution)));
}

export async function moveLeader(execution: ClusterExecution, { from, to }: ActionOf<"moveLeader">): Promise<void> {
  const leader = execution.members.find((member) => member.id === from);
  const asked = leader && portTo(execution, leader);
  if (asked === undefined) throw new NotYet("the leader cannot be asked to step down");
  await askingEtcd(asked.moveLeader(to, fenced(execution)));
}

export async function enableDowngrade(execution: ClusterExecution, { to }: ActionOf<"enableDowngrade">): Promise<void> {
  const asked = voterToAsk(execution).downgrade({ do: "enable", version: to }, fenced(execution));
  await askingEtcd(asked).catch(already("downgradeInProgress"));
}

export async function cancelDowngrade(execution: ClusterExecution): Promise<void> {
  const asked = voterToAsk(execution).downgrade({ do: "cancel" }, fenced(execution));
  await askingEtcd(asked).catch(already("noDowngrade"));
}

export async function disarmNoSpace(execution: ClusterExecution, { id }: ActionOf<"disarmNoSpace">): Promise<void> {
  await askingEtcd(voterToAsk(execution).disarm({ member: id, type: "noSpace" }, fenced(execution)));
}

export async function removeMember(execution: ClusterExecution, { id }: ActionOf<"removeMember">): Promise<void> {
  const asked = votersToAsk(execution, id);
  const removed = askingEach(asked, (member) => member.memberRemove(id, fenced(execution)));
  const list = await removed.catch(already("memberNotFound"));
  execution.members = list ?? execution.members.filter((known) => known.id !== id);
}

/** Every server that runs, whether it answered or not: one that knows no learners would make a voter of it. */
function oldestServer({ assessment: { instances, world } }: ClusterExecution): EtcdVersion {
  const answered = instances.flatMap(({ answer }) => (answer === undefined ? [] : [answer.status.version]));
  const versions = [...answered, ...world.pods.map((pod) => pod.version)].map(parseVersion);
  const oldest = oldestVersion(versions.filter((version) => version !== undefined));
  if (oldest === undefined) throw new NotYet("the versions of the members are not known", delays.untilAccepted);
  return oldest;
}

/**
 * Each server judges by its own connections whether the others are well enough for a change of the members, and one may go on
 * taking a peer for inactive that came back long ago (3.6.16: a stream that fails just after another one was made marks the
 * peer, and nothing marks it again until a stream is made again). It has changed nothing then, so the next one is asked.
 */
async function askingEach<T>(
  [first, ...others]: readonly [EtcdMember, ...EtcdMember[]],
  ask: (member: EtcdMember) => Promise<T>,
): Promise<T> {
  try {
    return await askingEtcd(ask(first));
  } catch (error) {
    const [next, ...rest] = others;
    if (next === undefined || !(error instanceof EtcdError) || error.reason !== "unhealthyCluster") throw error;
    return askingEach([next, ...rest], ask);
  }
}

/** What etcd says when the thing was done before. */
function already(reason: EtcdReason): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof EtcdError && error.reason === reason) return undefined;
    throw error;
  };
}

/** The list as a joining member must be given it. A second voter of two is listed while nothing can be decided. */
export function listForJoining({ cluster, members }: ClusterExecution, member: MemberName): ListedMember[] {
  const list = members.map(({ id, name, peerUrls }) => {
    const [url = ""] = peerUrls;
    return { peerUrls, name: name || (memberOfPeerUrl(cluster, url) ?? id) };
  });
  if (!list.some(({ name }) => name === member)) throw new NotYet(`etcd does not list ${member} yet`);
  return list;
}
