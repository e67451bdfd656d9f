// A floor for healing: what a person without an operator would have to do, done by a program that never pauses. The lost
// member is removed, a learner added in its place, its pod made, and the learner promoted as soon as etcd allows it.
import { setTimeout as sleep } from "node:timers/promises";
import { EtcdError, type EtcdReason } from "../../src/etcd/errors.ts";
import type { EtcdMember, Member } from "../../src/etcd/member.ts";
import { version } from "../../src/etcd/versions/version.ts";
import { Pod } from "../../src/kube/objects/kinds.ts";
import { etcdVersion } from "./operated.ts";
import type { Place } from "./place.ts";
import { plainJoiner, plainPeerUrl } from "./plain.ts";
import { pollEveryMs } from "./until.ts";
import type { Voter } from "./voters.ts";

interface Replacement {
  readonly cluster: string;
  readonly lost: Voter;
  readonly joining: string;
  readonly leader: EtcdMember;
}

export async function replaceByHand(place: Place, { cluster, lost, joining, leader }: Replacement): Promise<void> {
  await place.deleteNow(lost);
  const { members } = await leader.memberList({ linearizable: true });
  await leader.memberRemove(idOf(members, lost.name));
  const key = place.key(cluster);
  const peerUrls = [plainPeerUrl(key, joining)];
  const added = await leader.memberAdd({ as: "learner", peerUrls, oldestServer: version(etcdVersion) });
  const list = added.members.map(({ id, name, peerUrls: urls }) => ({
    name: id === added.member.id ? joining : name,
    peerUrls: urls,
  }));
  await place.ground.api.create(Pod, plainJoiner(key, joining, list));
  await promoteAsSoonAsPossible(leader, added.member.id, place.ground.signal);
}

/** What etcd says of a learner that has not started, or has not got its data yet. */
const notYet: ReadonlySet<EtcdReason> = new Set<EtcdReason>(["learnerNotReady", "notEnoughStartedMembers"]);

async function promoteAsSoonAsPossible(leader: EtcdMember, id: Member["id"], signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await leader.memberPromote(id);
      return;
    } catch (error) {
      if (!(error instanceof EtcdError) || !notYet.has(error.reason)) throw error;
    }
    await sleep(pollEveryMs, undefined, { signal });
  }
}

function idOf(members: readonly Member[], wanted: string): Member["id"] {
  const found = members.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`etcd does not list ${wanted}`);
  return found.id;
}
