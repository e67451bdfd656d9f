// The arithmetic that keeps data. Nothing else can make an action that removes or restarts a member or deletes a pod: whoever
// wants one asks here, and gets nothing when it would cost the quorum. One disruption at a time, whatever the reason.
import { has } from "../../etcd/versions/features.ts";
import type { EtcdVersion } from "../../etcd/versions/version.ts";
import type { Assessment } from "../assess/assess.ts";
import { claimOf, hasBegun, holds, needsOtherVolume } from "../assess/claims.ts";
import { hasServed } from "../assess/health.ts";
import { containerImage, hasLostData, isNodeLost } from "../assess/pods.ts";
import { isDoomed, isHealthy, isVoter, quorum, type Reason, type Instance } from "../assess/instances.ts";
import type { MemberName } from "../objects/names.ts";
import type { PodTrust } from "../objects/tls.ts";
import type { Claim, Facts, MemberPod, Release } from "../observe/world.ts";
import type { ClusterAction, ActionOf } from "./actions.ts";

declare const judged: unique symbol;

/** On each action that disrupts a member. No other file has the symbol, so an action made anywhere else does not compile. */
export interface Judged {
  readonly [judged]: true;
}

type DisruptionName = Extract<ClusterAction, Judged>["do"];

const disruption = <D extends DisruptionName>(
  action: { readonly do: D } & Omit<ActionOf<D>, keyof Judged | "do">,
): ActionOf<D> => action as ActionOf<D>;

/** What a removal or deletion is judged by; the instances are as etcd listed them through the quorum in this very reconcile. */
interface Table extends Pick<Assessment, "now" | "instances"> {
  readonly world: Facts;
}

/** The same with the spec, for what holds no data: only there may a wish decide. */
type TableAndWish = Pick<Assessment, "world" | "now" | "instances">;

const votersBut = (instances: readonly Instance[], instance: Instance): readonly Instance[] =>
  instances.filter((other) => isVoter(other) && other !== instance);

/**
 * A member that is lost, leaving, or of no use: with it goes nothing that serves, or nothing that stays. Those that
 * remain must be able to decide, right now.
 *
 * 3 voters, one lost: 2 alive ≥ quorum(2) = 2, removed. It makes things no worse: 2 of 3 was no more than enough either.
 * 5 voters, 2 lost: 3 ≥ quorum(4) = 3, then 3 ≥ quorum(3) = 2: both go, one after the other.
 * 3 voters, one lost, one leaving and alive: the lost one first (2 ≥ quorum(2) = 2), then the leaving one
 * (1 ≥ quorum(1) = 1). The other way round 1 < quorum(2) = 2 would remain: refused.
 * 2 voters, one leaving and alive: 1 ≥ quorum(1) = 1, removed; in a second, when it is dead, it would be too late.
 * 3 voters, one back without its data: it votes and must not be counted; 2 alive ≥ quorum(2) = 2, removed.
 * 1 voter: 0 < quorum(0) = 1. The last one is never removed.
 */
export function removeGone(table: Table, instance: Instance, because: Reason): readonly ClusterAction[] | undefined {
  if (isVoter(instance)) {
    const others = votersBut(table.instances, instance);
    if (others.filter(({ alive }) => alive).length < quorum(others.length)) return undefined;
  }
  return [removal(instance, because), ...podAfterRemoval(table, instance, because)];
}

/**
 * A voter that serves. Only those count for the rest that serve and stay, so that it is the one disruption there is.
 *
 * 5 voters, all healthy: 4 ≥ quorum(4) = 3, removed.
 * 5 voters, 2 away: taking a healthy one leaves 2 < quorum(4) = 3: refused.
 * 3 voters, one leaving: 1 < quorum(2) = 2: refused until that one is out.
 * 2 voters, both healthy: 1 ≥ quorum(1) = 1, removed.
 */
export function removeHealthy(table: Table, instance: Instance, because: Reason): readonly ClusterAction[] | undefined {
  const others = votersBut(table.instances, instance);
  if (others.some(({ state }) => state.t === "leaving")) return undefined;
  if (others.filter(isHealthy).length < quorum(others.length)) return undefined;
  return [removal(instance, because), ...podAfterRemoval(table, instance, because)];
}

/**
 * A voter that serves on a volume which goes with its pod. It serves as long as its pod runs, so it is in no hurry: it goes
 * when another one is in its place, and when nobody else is missing. So there are never fewer copies than were asked for.
 *
 * 3 wanted, all three doomed: 2 others < 3, so one joins first. 4 voters: 3 others = 3, one goes; the next joins, and so on.
 * 3 wanted, one doomed and one lost: the lost one is out first, two join, and of 4 voters the doomed one goes.
 * 3 wanted, 4 voters, one of them away: 3 others, and not all of them serve: refused until that one is back or out.
 * 1 wanted, doomed: 0 others < 1. With the second 1 = 1 ≥ quorum(1) = 1: it goes.
 */
export function removeDoomed(table: Table, instance: Instance, size: number): readonly ClusterAction[] | undefined {
  const others = votersBut(table.instances, instance);
  if (instance.state.t !== "doomed" || others.length < size || !others.every(isHealthy)) return undefined;
  const because = `another member has taken its place: ${instance.state.because}`;
  return [removal(instance, because), ...podAfterRemoval(table, instance, because)];
}

/**
 * A voter is stopped for the seconds that its container takes to start again; its data stays. Every other voter must be
 * healthy, so that it is the one disruption there is, however many the quorum would allow.
 *
 * 3 voters, all healthy: 2 ≥ quorum(3) = 2 go on. 5 voters, one away: 3 ≥ quorum(5) = 3 would go on: refused all the same.
 * 1 voter, 2 voters: 0 < quorum(1) = 1 and 1 < quorum(2) = 2. Nothing can be written until it is back; there is no other way.
 * One that is down already: nothing that serves is stopped.
 * One whose claim is being deleted: no kubelet may start it again. Refused.
 */
export function changeImage(
  table: Table,
  instance: Instance,
  pod: MemberPod,
  to: Release,
): readonly ClusterAction[] | undefined {
  if (isDoomed(instance)) return undefined;
  if (!instance.alive) return [imageChange(pod, to, false)];
  if (!votersBut(table.instances, instance).every(isHealthy)) return undefined;
  const isFirst = !table.instances.some((other) => other.pod?.version === to.version && other.pod.image === to.image);
  return [imageChange(pod, to, isFirst)];
}

/**
 * The pod of a member that has not come up since its image was changed, or cannot start with the one that it has, in a
 * cluster that cannot decide: only another image brings it back, and its data with it.
 */
export function changeBrokenImage(pod: MemberPod, to: Release): readonly ClusterAction[] {
  const isDown = pod.changedFrom !== undefined || pod.state.t === "starting";
  return isDown ? [imageChange(pod, to, false)] : [];
}

function imageChange(pod: MemberPod, to: Release, afterComparing: boolean): ClusterAction {
  const { name, uid, version, image, changedFrom, state } = pod;
  // What it was when it last served. One that waits for its first start has not restarted once when it runs the new one.
  const served = { version, image, ...changedFrom };
  const ran = containerImage(pod);
  const from = {
    version: served.version,
    image: served.image,
    restarts: "restarts" in state ? state.restarts : -1,
    ...(ran !== served.image && { ran }),
  };
  return disruption({ do: "changeImage", member: name, uid, from, to, afterComparing });
}

/**
 * A member that is kept apart by its CA, with or without a quorum: its container is started again in its pod, and keeps its
 * data whether that is in a volume or not. Nobody's consent can be waited for, and nobody has to be healthy.
 *
 * 3 voters, all to be started again: after the first, the other two go on by the connections that they have. After the
 * second those two are together, 2 ≥ quorum(3) = 2, and the third follows.
 */
export function startAgain({ name, uid }: MemberPod, tls: PodTrust, because: Reason): readonly ClusterAction[] {
  return [disruption({ do: "startAgain", member: name, uid, tls, because })];
}

/**
 * It belongs to no member: etcd was asked after the pod was seen, and members are added before their pods are made. One
 * that answers is left alone whatever the list says: as a member of another cluster it may hold somebody's data, and as
 * one of this cluster it contradicts the list. A member that was removed stops answering by itself.
 */
export function deleteOrphan(table: Table, pod: MemberPod): readonly ClusterAction[] {
  const { world, instances } = table;
  if (instances.some(({ name }) => name === pod.name) || answersIn(world, pod)) return [];
  return deletion(pod, "it belongs to no member of the cluster", table);
}

function answersIn({ etcd }: Table["world"], { name }: MemberPod): boolean {
  if (!("answers" in etcd)) return false;
  return [...etcd.answers.values(), ...etcd.strangers].some(({ pod }) => pod === name);
}

/** Its data is in its volume, and it never runs again: it makes room for another pod of its member. */
export function deleteEnded(table: Table, pod: MemberPod): readonly ClusterAction[] {
  if (pod.state.t !== "ended" || !pod.hasVolume || pod.terminating) return [];
  const claim = claimOf(table.world.claims, pod.name);
  const because = "it has ended, and its member comes back in another pod";
  return claim === undefined ? [] : deletionOnClaim(pod, claim, because, table);
}

/**
 * A voter that serves gets another pod on its volume, which takes seconds; its data stays. As with a change of its image
 * every other voter must be healthy: it is the one disruption there is.
 */
export function recreate(table: Table, instance: Instance, because: Reason): readonly ClusterAction[] | undefined {
  const { pod, claim } = instance;
  if (pod === undefined || claim === undefined || !holds(claim) || !hasBegun(claim)) return undefined;
  if (instance.alive && !votersBut(table.instances, instance).every(isHealthy)) return undefined;
  return deletionOnClaim(pod, claim, because, table);
}

/** The same of one that does not run, in a cluster that cannot decide: nothing is stopped, and nothing is lost. */
export function deleteBroken(
  table: Table,
  pod: MemberPod,
  claim: Claim | undefined,
  because: Reason,
): readonly ClusterAction[] {
  if (claim === undefined || !holds(claim) || !hasBegun(claim) || !pod.hasVolume || hasLostData(pod)) return [];
  return deletionOnClaim(pod, claim, because, table);
}

/** A learner that has never run has nothing to lose; it gets another pod under the same name. */
export function deleteUnstarted(table: TableAndWish, instance: Instance, because: Reason): readonly ClusterAction[] {
  if (instance.state.t !== "unstarted" || isVoter(instance) || instance.pod === undefined) return [];
  const { pod } = instance;
  return [
    ...deletion(pod, because, table).map((action) => ({ ...action, unless: "ready" }) as const),
    ...deleteUnused(table, pod, instance.claim),
  ];
}

/** A volume that nothing was ever written to, and that is not of the kind that is asked for. */
function deleteUnused(
  { world }: TableAndWish,
  pod: MemberPod,
  claim: Claim | undefined,
): readonly ActionOf<"deleteClaim">[] {
  if (claim === undefined || hasBegun(claim) || claim.terminating) return [];
  const because = needsOtherVolume(pod, claim, world.cluster);
  return because === undefined ? [] : [{ do: "deleteClaim", member: claim.name, uid: claim.uid, because }];
}

/**
 * The seed before it ever answered. No id was recorded, the status has never called the cluster running, and no other
 * member exists: whatever the pod held, nobody was told that it is kept.
 */
export function deleteFailedSeed(table: TableAndWish, because: Reason): readonly ClusterAction[] {
  const { world } = table;
  const [seed, ...more] = world.pods;
  if (seed === undefined || more.length > 0 || hasServed(world)) return [];
  // One that was ready once may have been written to, and its volume has it.
  const unused = seed.readyOnce === true ? [] : deleteUnused(table, seed, claimOf(world.claims, seed.name));
  return [
    ...deletion(seed, because, table).map((action) => ({ ...action, unless: "served" }) as const),
    ...unused.map((action) => ({ ...action, unlessServed: true }) as const),
  ];
}

/**
 * What is left of first members that were given up before they ever served: the same holds for them. Others take their place
 * under other names when they are gone.
 */
export function deleteAbandoned(table: TableAndWish, kept: ReadonlySet<MemberName>): readonly ClusterAction[] {
  const { world } = table;
  if (hasServed(table.world)) return [];
  const because = "it is of an attempt to begin that was given up";
  const pods = world.pods.filter(({ name }) => !kept.has(name));
  const claims = world.claims.filter(
    (claim) => claim.role === "current" && !kept.has(claim.name) && !hasBegun(claim) && !claim.terminating,
  );
  return [
    ...pods.flatMap((pod) => deletion(pod, because, table)).map((one) => ({ ...one, unless: "served" }) as const),
    ...claims.map(({ name, uid }) => ({ do: "deleteClaim", member: name, uid, because, unlessServed: true }) as const),
  ];
}

/**
 * The pod of the second of two voters, which never ran and cannot as it is. Nothing was decided without the first one
 * (quorum(2) = 2), which has it all.
 */
export function deleteSecondVoterPod(table: Table, pod: MemberPod, because: Reason): readonly ClusterAction[] {
  if (pod.state.t === "running") return [];
  return deletion(pod, because, table).map((action) => ({ ...action, unless: "ready" }) as const);
}

/**
 * Every member, because a person has asked for other data in their place: the one time that a cluster which serves is
 * stopped as a whole. Nothing is lost by it but what was written after the backup, and where there are volumes they are
 * kept, whatever `volumeRetention` says. Only when the status says so already: a view that is older than that stops nothing.
 */
export function stopAll(table: Table): readonly ClusterAction[] {
  const { claims, cluster, pods } = table.world;
  if (cluster.status.restore?.phase !== "Stopping") return [];
  const because = `the EtcdRestore ${cluster.status.restore.name} replaces the data`;
  const current = claims.filter(({ role }) => role === "current");
  return [
    ...current.map(({ name, uid }) => ({ do: "retireClaim", member: name, uid }) as const),
    // Together they have nobody to hand the lead to, and would spend their grace on trying; what they acknowledged is on disk.
    ...pods.flatMap((pod) => deletion(pod, because, table)).map((one) => ({ ...one, soon: true }) as const),
  ];
}

/**
 * etcd refuses an add that a quorum of the voters after it would not be connected for, the new one not counted; before
 * 3.5.30 and 3.6.11 one that is away is enough. A lone voter is exempt. A learner counts like a voter here: it will be one.
 *
 * 3 voters, all healthy: 3 ≥ quorum(4) = 3. One away: 2 < 3, so it comes back or goes first.
 * 5 voters, one away: 4 ≥ quorum(6) = 4, taken by newer versions.
 * 1 voter whose claim is being deleted, 3 of 3 such voters: each serves, and counts. Who is to go must be able to get a successor.
 */
export function mayAdd(instances: readonly Instance[], version: EtcdVersion): boolean {
  const voters = instances.filter(isVoter);
  const healthy = voters.filter(isHealthy).length;
  if (voters.length === 1) return healthy === 1;
  return has(version, "addWithMinorityDown") ? healthy >= quorum(voters.length + 1) : healthy === voters.length;
}

/**
 * How many members must stay when nodes are drained. Each eviction costs a copy of the data, so one goes at a time,
 * which is never more than the quorum allows; and as many are counted as there will be, before they vote.
 *
 * 1 → 1, 2 → 2: evicting any would lose the quorum, so a drain waits for a person. 3 → 2, 4 → 3, 5 → 4, 7 → 6.
 * 3 voters on their way to 5: 4, so nothing is evicted until a fifth is there.
 */
export function minAvailable(votersNow: number, size: number): number {
  const members = Math.max(votersNow, size);
  return Math.max(quorum(members), members - 1);
}

function removal({ member, name, pod, state }: Instance, because: Reason): ClusterAction {
  const seen = pod === undefined ? ({ t: "none" } as const) : ({ t: "uid", uid: pod.uid } as const);
  return disruption({ do: "removeMember", id: member.id, member: name, because, cause: causeOf(state), pod: seen });
}

function causeOf(state: Instance["state"]): ActionOf<"removeMember">["cause"] {
  if (state.t === "lost") return state.wiped === true ? "wiped" : "lost";
  return state.t === "leaving" ? "lost" : "unwanted";
}

/** After its member is out: never before, and never by name alone. */
function podAfterRemoval(table: Table, { pod, claim }: Instance, because: Reason): readonly ClusterAction[] {
  return [
    ...(pod === undefined ? [] : deletion(pod, because, table)),
    ...(claim === undefined ? [] : retirement(table, claim, because)),
  ];
}

/**
 * Its member is not in etcd's list any more: etcd was asked after the claim was seen, and a member is added before its
 * claim is made.
 */
export function retireOrphan(table: Table, claim: Claim): readonly ClusterAction[] {
  const { world, instances } = table;
  if (world.etcd.t !== "quorum" || claim.role === "retired") return [];
  if (instances.some(({ name }) => name === claim.name)) return [];
  return retirement(table, claim, "its member was removed");
}

function retirement({ world }: Table, { name, uid, terminating }: Claim, because: Reason): readonly ClusterAction[] {
  if (terminating) return [];
  return world.cluster.spec.volumeRetention.whenMemberRemoved === "Delete"
    ? [{ do: "deleteClaim", member: name, uid, because }]
    : [{ do: "retireClaim", member: name, uid }];
}

/** Its member comes back with the data in its volume: with a claim that is being deleted the data would go with the pod. */
function deletionOnClaim(pod: MemberPod, { uid }: Claim, because: Reason, table: Table): readonly ClusterAction[] {
  return deletion(pod, because, table).map((action) => ({ ...action, keeps: uid }));
}

function deletion(pod: MemberPod, because: Reason, { world, now }: Table): readonly ActionOf<"deletePod">[] {
  const force = isNodeLost(pod, world, now);
  if (pod.terminating && !force) return [];
  return [disruption({ do: "deletePod", member: pod.name, uid: pod.uid, because, force })];
}
