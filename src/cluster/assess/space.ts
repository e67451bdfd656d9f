// How much room the databases of the members have: up to the quota, above which etcd takes no more writes, and in their
// volumes, in which a defragmentation needs room for a second copy.
import type { MemberStatus } from "../../etcd/member.ts";
import { findCondition } from "../../kube/objects/conditions.ts";
import type { World } from "../observe/world.ts";

/** etcd's own, where neither it nor the spec says. */
const usualQuota = 2 * 1024 ** 3;

export interface Space {
  /** Of the largest database file, in bytes. */
  readonly size: number;
  /** Bytes of it that hold data; undefined before etcd 3.4. */
  readonly inUse: number | undefined;
  readonly quota: number;
  /** Of the smallest volume; undefined: there are none. */
  readonly volume: number | undefined;
}

export interface Pressure {
  readonly reason: "DatabaseNearQuota" | "NoRoomToDefragment" | "QuotaTooLarge";
  readonly message: string;
}

/** Undefined while no member says how large its database is. */
export function spaceOf(world: World): Space | undefined {
  const { claims, cluster, etcd } = world;
  const statuses = "answers" in etcd ? [...etcd.answers.values()].map(({ status }) => status) : [];
  if (statuses.length === 0) return undefined;
  const used = statuses.flatMap(({ dbSizeInUse }) => (dbSizeInUse === undefined ? [] : [dbSizeInUse]));
  const volumes = claims.flatMap(({ role, capacity }) => (role === "current" && capacity > 0 ? [capacity] : []));
  return {
    size: Math.max(...statuses.map(({ dbSize }) => dbSize)),
    inUse: used.length === 0 ? undefined : Math.max(...used),
    quota: Math.min(...statuses.map((status) => quotaOf(status, cluster))),
    volume: volumes.length === 0 ? undefined : Math.min(...volumes),
  };
}

/** What a member goes by: it says so since etcd 3.6. */
export function quotaOf({ dbSizeQuota }: MemberStatus, { spec }: World["cluster"]): number {
  return dbSizeQuota || (spec.etcd.quotaBackendBytes ?? usualQuota);
}

/** Of the quota, from which on it is said, and below which it is no longer: a size that wavers is said once. */
const near = { from: 0.8, until: 0.7 };
/** Of a volume: etcd's files, a copy of the database while it is defragmented, and the raft log beside them. */
const roomForDatabase = 0.45;

export function pressureOf(world: World): Pressure | undefined {
  const space = spaceOf(world);
  if (space === undefined) return undefined;
  const { size, quota, volume = Number.POSITIVE_INFINITY } = space;
  const before = findCondition(world.cluster.status.conditions, "DiskPressure")?.reason;
  const limit = quota * (before === "DatabaseNearQuota" ? near.until : near.from);
  // The file counts for the quota, with what is free in it: a compaction alone does not help.
  if (size > limit)
    return {
      reason: "DatabaseNearQuota",
      message: `The database file has ${size} of ${quota} bytes, and takes no more writes when it is full: delete keys, compact and defragment, or raise spec.etcd.quotaBackendBytes.`,
    };
  if (size > volume * roomForDatabase)
    return {
      reason: "NoRoomToDefragment",
      message: `The database file has ${size} bytes and its volume ${volume}: a defragmentation needs room for a second copy. Ask for larger volumes in spec.pod.persistentVolumeClaimSpec.`,
    };
  if (quota > volume * roomForDatabase)
    return {
      reason: "QuotaTooLarge",
      message: `The database may grow to ${quota} bytes, and its volume has ${volume}: at that size there is no room to defragment it. Lower spec.etcd.quotaBackendBytes to at most ${Math.floor(volume * roomForDatabase)}, or ask for volumes of at least ${Math.ceil(quota / roomForDatabase)} bytes.`,
    };
  return undefined;
}
