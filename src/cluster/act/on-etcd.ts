// What is done to etcd's membership, one function an action. Each asks the fence first, because nothing else would stop
// a former leader from changing members; and each may be repeated.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdError, type EtcdReason } from "../../etcd/errors.ts";
import type { NewMember } from "../../etcd/member.ts";
import { type EtcdVersion, oldestVersion, parseVersion } from "../../etcd/versions/version.ts";
import { isNotFound } from "../../kube/client/errors.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import type { Action, PodSeen } from "../plan/actions.ts";
import type { ListedMember } from "../objects/etcd-command.ts";
import { memberOfPeerUrl, peerUrlOf, undialableUrlOf } from "../objects/names.ts";
import { askingEtcd, NotYet, whileCacheIsBehindMs } from "./outcome.ts";
import { giveItsLabels, hasItsLabels } from "../objects/pod-labels.ts";
import { portTo, throughQuorum, type Turn, voterToAsk } from "./turn.ts";

type Of<D extends Action["do"]> = Extract<Action, { do: D }>;

export async function addMember(turn: Turn, { member, as, undialable }: Of<"addMember">): Promise<void> {
  const { cluster, members } = turn;
  if (members.some(({ peerUrls }) => peerUrls.some((url) => memberOfPeerUrl(cluster, url) === member))) return;
  const peerUrls = [undialable === true ? undialableUrlOf(cluster, member) : peerUrlOf(cluster, member)];
  const wanted: NewMember = as === "voter" ? { as, peerUrls } : { as, peerUrls, oldestServer: oldestServer(turn) };
  const asked = voterToAsk(turn);
  turn.pass.fence.check();
  const added = await askingEtcd(asked.memberAdd(wanted, { signal: turn.pass.signal }));
  turn.members = added.members;
}

export async function promote(turn: Turn, { id }: Of<"promote">): Promise<void> {
  const asked = voterToAsk(turn, id);
  turn.pass.fence.check();
  const list = await askingEtcd(asked.memberPromote(id, { signal: turn.pass.signal })).catch(already("notALearner"));
  if (list !== undefined) turn.members = list;
}

export async function updatePeerUrl(turn: Turn, { id, member }: Of<"updatePeerUrl">): Promise<void> {
  const asked = voterToAsk(turn);
  // An etcd that restarts would not know any more who votes; see rules/together.ts.
  if (turn.members.some((known) => known.id === id && known.learner)) throw new NotYet(`${member} is a learner`);
  turn.pass.fence.check();
  const call = { signal: turn.pass.signal };
  turn.members = await askingEtcd(asked.memberUpdate(id, [peerUrlOf(turn.cluster, member)], call));
}

export async function moveLeader(turn: Turn, { from, to }: Of<"moveLeader">): Promise<void> {
  const leader = turn.members.find((member) => member.id === from);
  const asked = leader && portTo(turn, leader);
  if (asked === undefined) throw new NotYet("the leader cannot be asked to step down");
  turn.pass.fence.check();
  await askingEtcd(asked.moveLeader(to, { signal: turn.pass.signal }));
}

export async function removeMember(turn: Turn, { id, member, pod }: Of<"removeMember">): Promise<void> {
  const asked = voterToAsk(turn, id);
  await confirmLive(turn, member, pod);
  turn.pass.fence.check();
  const list = await askingEtcd(asked.memberRemove(id, { signal: turn.pass.signal })).catch(already("memberNotFound"));
  turn.members = list ?? turn.members.filter((known) => known.id !== id);
}

/**
 * The caches may show the past: an older size, or a pod missing that is there. Nobody is removed for that, so the API
 * server itself is asked first.
 */
async function confirmLive({ pass, cluster, world }: Turn, member: string, seen: PodSeen | undefined): Promise<void> {
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
  const seenUid = seen === undefined ? world.pods.find((pod) => pod.name === member)?.uid : podUid(seen);
  // One that has gone since then is no reason to wait; one that nobody knew of is.
  if (livePod === undefined || livePod.metadata?.uid === seenUid) return;
  // Without its labels it is in no cache. With them it is back, and so is its member.
  if (isControlledBy(livePod, cluster) && !hasItsLabels(livePod))
    await giveItsLabels(pass.api, cluster, { name: member, uid: livePod.metadata?.uid ?? "" });
  throw new NotYet(`the pod ${member} is another one than was looked at`, whileCacheIsBehindMs);
}

const podUid = (seen: PodSeen): string | undefined => (seen.t === "uid" ? seen.uid : undefined);

/** Every server that runs, whether it answered or not: one that knows no learners would make a voter of it. */
function oldestServer(turn: Turn): EtcdVersion {
  const answered = [...throughQuorum(turn).answers.values()].map(({ status }) => status.version);
  const versions = [...answered, ...turn.world.pods.map((pod) => pod.version)].map(parseVersion);
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
export function listForJoining(turn: Turn, member: string): ListedMember[] {
  const list = turn.members.map(({ id, name, peerUrls }) => {
    const [url = ""] = peerUrls;
    return { peerUrls, name: name || (memberOfPeerUrl(turn.cluster, url) ?? id) };
  });
  if (!list.some(({ name }) => name === member)) throw new NotYet(`etcd does not list ${member} yet`);
  return list;
}
