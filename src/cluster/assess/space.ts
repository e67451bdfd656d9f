// How much room the databases of the members have: up to the quota, above which etcd takes no more writes, and in their
// volumes, in which a defragmentation needs room for a second copy.
import { type ReasonOf, conditionOf } from "../../api/conditions.ts";
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { variableOf } from "../../api/etcd-cluster/etcd-flags.ts";
import type { Alarm } from "../../etcd/member.ts";
import { bytesInWords } from "../../kube/objects/size.ts";
import { requestOf } from "../objects/claims.ts";
import { chosenFlags } from "../objects/etcd-command.ts";
import type { MemberName } from "../objects/names.ts";
import { parseSettings } from "../objects/settings.ts";
import type { MemberAnswer, MemberPod, ClusterWorld } from "../observe/world.ts";
import type { Instance } from "./instances.ts";

/** etcd's own, where neither it nor the spec says. */
const usualQuota = 2 * 1024 ** 3;

export interface Space {
  /** Size of the largest database file, in bytes. */
  readonly size: number;
  /** Bytes of it that hold data; undefined before etcd 3.4. */
  readonly inUse: number | undefined;
  readonly quota: number;
  /** Size of the smallest volume; undefined: there are none. */
  readonly volume: number | undefined;
}

export interface Pressure {
  readonly reason: ReasonOf<"EtcdCluster", "DiskPressure", "True">;
  readonly message: string;
}

/** Undefined while no member says how large its database is. */
export function spaceOf(world: ClusterWorld): Space | undefined {
  const answers = answersIn(world);
  if (answers.length === 0) return undefined;
  const statuses = answers.map(({ status }) => status);
  const used = statuses.flatMap(({ dbSizeInUse }) => (dbSizeInUse === undefined ? [] : [dbSizeInUse]));
  const volumes = capacitiesIn(world);
  return {
    size: Math.max(...statuses.map(({ dbSize }) => dbSize)),
    inUse: used.length === 0 ? undefined : Math.max(...used),
    quota: Math.min(...answers.map((answer) => quotaOf(answer, world.pods))),
    volume: volumes.length === 0 ? undefined : Math.min(...volumes),
  };
}

const answersIn = ({ etcd }: ClusterWorld): readonly MemberAnswer[] =>
  "answers" in etcd ? [...etcd.answers.values()] : [];

/** What a member goes by: it says so since etcd 3.6. Before that its pod does; the spec may have been changed since. */
function quotaOf({ pod, status }: MemberAnswer, pods: readonly MemberPod[]): number {
  return status.dbSizeQuota || (pods.find(({ name }) => name === pod)?.quota ?? usualQuota);
}

/** What a member that is made now would go by. */
function wantedQuota(cluster: CompleteEtcdCluster, world: ClusterWorld): number {
  const { etcd, pod } = cluster.spec;
  const variable = pod.etcdEnv?.find(({ name }) => name === variableOf("quota-backend-bytes"));
  return etcd.quotaBackendBytes ?? (Number(variable?.value) || (quotaToMake(cluster, world) ?? usualQuota));
}

const MiB = 1024 ** 2;
/** Six segments of the raft log, which etcd keeps beside the database. */
const logBytes = 6 * 64 * MiB;

/**
 * The quota that fits a volume: twice the database, for a copy while it is defragmented, and the raft log, in what a file
 * system leaves of the volume. 1 GiB: 269 MiB. From 4.9 GiB on etcd's default fits.
 */
const fittingQuota = (volume: number): number => Math.floor(Math.max(volume / 4, (volume * 0.9 - logBytes) / 2));

/**
 * The quota that a member is given where nobody set one; undefined: etcd's default. It is never less than what the others go
 * by: their database may be larger already, and one member that is full stops the writes of all.
 */
export function quotaToMake(cluster: CompleteEtcdCluster, world: ClusterWorld): number | undefined {
  const { etcd, pod } = cluster.spec;
  const isSet = etcd.quotaBackendBytes !== undefined || chosenFlags(cluster).includes("quota-backend-bytes");
  const volumes = [requestOf(pod.persistentVolumeClaimSpec) ?? 0, ...capacitiesIn(world)].filter((size) => size > 0);
  if (isSet || volumes.length === 0) return undefined;
  const others = spaceOf(world)?.quota ?? cluster.status.dbQuota ?? 0;
  const quota = Math.max(fittingQuota(Math.min(...volumes)), others);
  return quota < usualQuota ? quota : undefined;
}

const capacitiesIn = ({ claims }: ClusterWorld): readonly number[] =>
  claims.flatMap(({ role, capacity }) => (role === "current" && capacity > 0 ? [capacity] : []));

// A full database

/** Share of the quota: a database that is fuller than this holds up what is not urgent. */
const fullest = 0.95;
/** Share of the quota: with every database below it, the alarm can be disarmed without being raised again at once. */
const roomy = 0.9;

/** The first member whose database is all but full. */
export function fullDatabase(
  world: ClusterWorld,
): { readonly pod: MemberName; readonly size: number; readonly quota: number } | undefined {
  const sizes = answersIn(world).map((answer) => ({
    pod: answer.pod,
    size: answer.status.dbSize,
    quota: quotaOf(answer, world.pods),
  }));
  return sizes.find(({ size, quota }) => size > quota * fullest);
}

/** The alarms that are raised, each once. */
export function alarmsIn(world: ClusterWorld): readonly Alarm[] {
  const raised = answersIn(world).flatMap(({ status }) => status.alarms);
  return [...new Map(raised.map((alarm) => [`${alarm.member} ${alarm.type}`, alarm])).values()];
}

/** Those for a full database, once there is room again in every member: who is silent may still be full. */
export function needlessAlarms(world: ClusterWorld, instances: readonly Instance[]): readonly Alarm[] {
  const hasRoom = ({ answer }: Instance): boolean =>
    answer !== undefined && answer.status.dbSize <= quotaOf(answer, world.pods) * roomy;
  return instances.every(hasRoom) ? alarmsIn(world).filter(({ type }) => type === "noSpace") : [];
}

/** Another pod would have a larger quota, or another compaction: the cure of a full database. */
export function getsMoreRoom({ answer, pod }: Instance, cluster: CompleteEtcdCluster, world: ClusterWorld): boolean {
  if (pod === undefined) return false;
  const quota = answer === undefined ? (pod.quota ?? usualQuota) : quotaOf(answer, world.pods);
  if (wantedQuota(cluster, world) > quota) return true;
  const before = pod.madeFrom === undefined ? undefined : parseSettings(pod.madeFrom);
  if (before === undefined) return false;
  const { autoCompactionMode, autoCompactionRetention } = cluster.spec.etcd;
  return (
    before.etcd?.autoCompactionMode !== autoCompactionMode ||
    before.etcd?.autoCompactionRetention !== autoCompactionRetention
  );
}

/** Another member would have a larger volume, or one at all. */
export function getsLargerVolume({ claim }: Instance, { spec }: CompleteEtcdCluster): boolean {
  return (requestOf(spec.pod.persistentVolumeClaimSpec) ?? 0) > (claim?.capacity ?? 0);
}

/** Shares of the quota, from which on it is reported, and below which it is no longer: a size that wavers is said once. */
const near = { from: 0.8, until: 0.7 };
/** Share of a volume: etcd's files, a copy of the database while it is defragmented, and the raft log beside them. */
const roomForDatabase = 0.45;

export function pressureOf(world: ClusterWorld): Pressure | undefined {
  const space = spaceOf(world);
  if (space === undefined) return undefined;
  const { size, quota, volume = Number.POSITIVE_INFINITY } = space;
  const before = conditionOf(world.cluster.status.conditions, "DiskPressure")?.reason;
  const limit = quota * (before === "DatabaseNearQuota" ? near.until : near.from);
  // The file counts for the quota, with what is free in it: a compaction alone does not help.
  if (size > limit)
    return {
      reason: "DatabaseNearQuota",
      message: `The database file has ${bytesInWords(size)} of ${bytesInWords(quota)}, and takes no more writes when it is full: delete keys, compact and defragment, or raise spec.etcd.quotaBackendBytes.`,
    };
  if (size > volume * roomForDatabase)
    return {
      reason: "NoRoomToDefragment",
      message: `The database file has ${bytesInWords(size)} and its volume ${bytesInWords(volume)}: a defragmentation needs room for a second copy. Ask for larger volumes in spec.pod.persistentVolumeClaimSpec.`,
    };
  if (quota > volume * roomForDatabase)
    return {
      reason: "QuotaTooLarge",
      message: `The database may grow to ${bytesInWords(quota)}, but its volume has ${bytesInWords(volume)}: at that size there is no room to defragment it. Lower spec.etcd.quotaBackendBytes to at most ${Math.floor(volume * roomForDatabase)}, or ask for volumes of at least ${Math.ceil(quota / roomForDatabase / 2 ** 30)}Gi.`,
    };
  return undefined;
}
