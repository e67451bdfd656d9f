// What is done to etcd's membership, one function an action. Each may be repeated.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdError, type EtcdReason } from "../../etcd/errors.ts";
import type { NewMember } from "../../etcd/member.ts";
import { type EtcdVersion, oldestVersion, parseVersion } from "../../etcd/versions/version.ts";
import { isNotFound } from "../../kube/client/errors.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import type { ListedMember } from "../objects/first-start.ts";
import { memberOfPeerUrl, peerUrlOf, undialableUrlOf } from "../objects/names.ts";
import { schemeOf } from "../objects/tls.ts";
import { giveItsLabels, hasItsLabels } from "../objects/pod-labels.ts";
import type { ActionOf, PodSeen } from "../plan/actions.ts";
import { type Execution, fenced, portTo, voterToAsk } from "./execution.ts";
import { askingEtcd, NotYet, whileCacheIsBehindMs } from "./outcome.ts";

export async function addMember(
  execution: Execution,
  { member, as, undialable }: ActionOf<"addMember">,
): Promise<void> {
  const { cluster, members } = execution;
  if (members.some(({ peerUrls }) => peerUrls.some((url) => memberOfPeerUrl(cluster, url) === member))) return;
  const scheme = schemeOf(execution.assessment.desired.tls?.peer === "tls");
  const peerUrls = [undialable === true ? undialableUrlOf(cluster, member) : peerUrlOf(cluster, member, scheme)];
  const wanted: NewMember = as === "voter" ? { as, peerUrls } : { as, peerUrls, oldestServer: oldestServer(execution) };
  const added = await askingEtcd(voterToAsk(execution).memberAdd(wanted, fenced(execution)));
  execution.members = added.members;
}

export async function promote(execution: Execution, { id }: ActionOf<"promote">): Promise<void> {
  const asked = voterToAsk(execution, id);
  const list = await askingEtcd(asked.memberPromote(id, fenced(execution))).catch(already("notALearner"));
  if (list !== undefined) execution.members = list;
}

export async function updatePeerUrl(execution: Execution, { id, member }: ActionOf<"updatePeerUrl">): Promise<void> {
  const asked = voterToAsk(execution);
  // An etcd that restarts would not know any more who votes; see plan/rules/together.ts.
  if (execution.members.some((known) => known.id === id && known.learner)) throw new NotYet(`${member} is a learner`);
  const speaks = execution.assessment.seats.find((seat) => seat.member.id === id)?.pod?.tls.peer;
  const peerUrls = [peerUrlOf(execution.cluster, member, schemeOf(speaks === "tls"))];
  execution.members = await askingEtcd(asked.memberUpdate(id, peerUrls, fenced(execution)));
}

export async function moveLeader(execution: Execution, { from, to }: ActionOf<"moveLeader">): Promise<void> {
  const leader = execution.members.find((member) => member.id === from);
  const asked = leader && portTo(execution, leader);
  if (asked === undefined) throw new NotYet("the leader cannot be asked to step down");
  await askingEtcd(asked.moveLeader(to, fenced(execution)));
}

export async function enableDowngrade(execution: Execution, { to }: ActionOf<"enableDowngrade">): Promise<void> {
  const asked = voterToAsk(execution).downgrade({ do: "enable", version: to }, fenced(execution));
  await askingEtcd(asked).catch(already("downgradeInProgress"));
}

export async function cancelDowngrade(execution: Execution): Promise<void> {
  const asked = voterToAsk(execution).downgrade({ do: "cancel" }, fenced(execution));
  await askingEtcd(asked).catch(already("noDowngrade"));
}

export async function removeMember(execution: Execution, { id, member, pod }: ActionOf<"removeMember">): Promise<void> {
  const asked = voterToAsk(execution, id);
  await confirmLive(execution, member, pod);
  const list = await askingEtcd(asked.memberRemove(id, fenced(execution))).catch(already("memberNotFound"));
  execution.members = list ?? execution.members.filter((known) => known.id !== id);
}

/**
 * The caches may show the past: an older size, or a pod missing that is there. Nobody is removed for that, so the API
 * server itself is asked first.
 */
async function confirmLive({ pass, cluster }: Execution, member: string, seen: PodSeen): Promise<void> {
  const { namespace, name, uid, generation } = cluster.metadata;
  const [liveCluster, livePod] = await Promise.all([
    pass.api.get(EtcdCluster, { namespace, name }),
    pass.api.get(Pod, { namespace, name: member }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    }),
  ]);
  if (liveCluster.metadata?.uid !== uid || liveCluster.metadata?.generation !== generation)
    throw new NotYet("the EtcdCluster has changed since it was looked at", whileCacheIsBehindMs);
  const seenUid = seen.t === "uid" ? seen.uid : undefined;
  // One that has gone since then is no reason to wait; one that nobody knew of is.
  if (livePod === undefined || livePod.metadata?.uid === seenUid) return;
  // Without its labels it is in no cache. With them it is back, and so is its member.
  if (isControlledBy(livePod, cluster) && !hasItsLabels(livePod))
    await giveItsLabels(pass.api, cluster, { name: member, uid: livePod.metadata?.uid ?? "" });
  throw new NotYet(`the pod ${member} is another one than was looked at`, whileCacheIsBehindMs);
}

/** Every server that runs, whether it answered or not: one that knows no learners would make a voter of it. */
function oldestServer({ assessment: { seats, world } }: Execution): EtcdVersion {
  const answered = seats.flatMap(({ answer }) => (answer === undefined ? [] : [answer.status.version]));
  const versions = [...answered, ...world.pods.map((pod) => pod.version)].map(parseVersion);
  const oldest = oldestVersion(versions.filter((version) => version !== undefined));
  if (oldest === undefined) throw new NotYet("the versions of the members are not known", 500);
  return oldest;
}

/** What etcd says when the thing was done before. */
function already(reason: EtcdReason): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof EtcdError && error.reason === reason) return undefined;
    throw error;
  };
}

/** The list as a joining member must be given it. A second voter of two is listed while nothing can be decided. */
export function listForJoining({ cluster, members }: Execution, member: string): ListedMember[] {
  const list = members.map(({ id, name, peerUrls }) => {
    const [url = ""] = peerUrls;
    return { peerUrls, name: name || (memberOfPeerUrl(cluster, url) ?? id) };
  });
  if (!list.some(({ name }) => name === member)) throw new NotYet(`etcd does not list ${member} yet`);
  return list;
}
