// Which backups of a series go: beyond a number, or an age. The newest stays, what must stay stays, and objects that are
// not provably of this EtcdBackup are not touched. Nothing goes while the backup that was just made is not known to
// continue the older ones.
import { StoreError, type StoreErrorCode } from "../../../store/errors.ts";
import type { ObjectStore } from "../../../store/store.ts";
import { failureOf } from "../../program/failure.ts";
import type { BackupDone, BackupFacts, BackupJob, Owner, Retention } from "../../job.ts";
import { type Contradiction, contradictionOf, listed, releaseTime, type Traced } from "./lineage.ts";
import {
  type Claim,
  getDescription,
  getMetadata,
  isClaim,
  isSameOwner,
  type Metadata,
  momentOf,
  tracedOf,
} from "./metadata.ts";
import { inSeries, metadataKey, metadataOf } from "./object-key.ts";
import type { JobContext } from "../../program/job-context.ts";

export interface Kept {
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly takenAt: number;
  readonly revision: number;
  /** It is of an earlier cluster, and a person has said that it may go as the older ones go. */
  readonly released?: boolean;
}

/**
 * Newest first. Within one cluster the higher revision is newer, as numbers, 100 after 99: clocks may be set back. What was
 * released comes last, by its time.
 */
export const newestFirst = (a: Kept, b: Kept): number => {
  const [isOlder, other] = [a.released === true, b.released === true];
  if (isOlder !== other) return Number(isOlder) - Number(other);
  const [byTime, byRevision] = [b.takenAt - a.takenAt, b.revision - a.revision];
  return isOlder ? byTime || byRevision : byRevision || byTime;
};

/** `now`: milliseconds since 1970. */
export function chooseDeletions(objects: readonly Kept[], retention: Retention, now: number): string[] {
  const { maxBackups, maxAgeSeconds, keep } = retention;
  return objects
    .toSorted(newestFirst)
    .map(({ key, takenAt }, place) => ({
      key,
      isTooMany: maxBackups > 0 && place >= maxBackups,
      isTooOld: maxAgeSeconds > 0 && now - takenAt > maxAgeSeconds * 1000,
      mustStay: place === 0 || keep.includes(key),
    }))
    .flatMap(({ key, isTooMany, isTooOld, mustStay }) => (!mustStay && (isTooMany || isTooOld) ? [key] : []));
}

type Retained = Pick<BackupDone, "deleted" | "count" | "kept" | "held">;
type Made = Pick<BackupFacts, "key" | "revision" | "clusterId" | "takenAt" | "snapshotAt" | "current">;

/** `made`: the backup of this run, which is never deleted. It is good, whatever comes of older ones. */
export async function applyRetention(
  job: BackupJob,
  made: Made,
  store: ObjectStore,
  worker: JobContext,
): Promise<Retained> {
  try {
    return await retain(job, made, store, worker);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    worker.log.warn("older backups could not be cleaned up", { error });
    return { deleted: 0, count: 1, kept: `Older backups could not be cleaned up: ${error.message}` };
  }
}

async function retain(job: BackupJob, made: Made, store: ObjectStore, worker: JobContext): Promise<Retained> {
  const { retention, key } = job;
  if (key.t === "once" && retention === undefined) return { deleted: 0, count: 1 };
  const { keys, lonely } = await listSeries(key.path, store, worker);
  if (retention === undefined) {
    const { backups } = await ownedOf(previous(keys, key.path, made.key), job.owner, store, worker);
    const contradiction = contradictionIn(job, made, backups);
    return { deleted: 0, count: keys.length, ...(contradiction && { held: heldBy(contradiction, made, "series") }) };
  }
  const { backups: owned, unfinished } = await ownedOf(keys, job.owner, store, worker);
  const alone = key.t === "once" ? 1 : 0;
  const contradiction = contradictionIn(job, made, owned);
  const held = contradiction ? heldBy(contradiction, made, "pruning") : made.current === false ? notCurrent : undefined;
  const objects = owned.map(tracedOf).map((one) => ({ ...one, released: isReleased(job, one) }));
  const keep = [...retention.keep, made.key];
  const old = held === undefined ? chooseDeletions(objects, { ...retention, keep }, worker.time()) : [];
  // By now the backup of this run is proved, and whoever began another and never ended it has been given up.
  const { deleted, refused } = await deleteAll([...old, ...unfinished], store, worker);
  await forgetLonely(lonely, job.owner, store, worker);
  return {
    deleted,
    count: owned.length + unfinished.length - deleted + alone,
    ...(refused.length > 0 && { kept: `The store keeps ${refused.length} that should go: ${refused[0]?.message}` }),
    ...(held !== undefined && { held }),
  };
}

/** The one before, by the time in its key: where nothing is pruned, there may be any number of others. */
const previous = (keys: readonly string[], path: string, made: string): readonly string[] =>
  keys
    .filter((key) => key !== made)
    .toSorted((a, b) => (inSeries(path, b)?.time ?? 0) - (inSeries(path, a)?.time ?? 0))
    .slice(0, 1);

const traced = ({ cluster }: BackupJob, { key, revision, clusterId, ...times }: Made): Traced => ({
  key,
  revision,
  clusterId,
  takenAt: momentOf(times),
  ...(cluster && { cluster }),
});

const isReleased = ({ releasedBefore = "" }: BackupJob, { takenAt }: Traced): boolean =>
  takenAt < Date.parse(releasedBefore);

function contradictionIn(job: BackupJob, made: Made, owned: readonly Metadata[]): Contradiction | undefined {
  const others = owned.map(tracedOf).filter((one) => one.key !== made.key && !isReleased(job, one));
  return contradictionOf(traced(job, made), others);
}

const notCurrent =
  "The member that gave the snapshot could not read through a quorum, so that it may lack what others have. No older backup is deleted until one is taken that is known to be complete. See to the cluster.";

/** What is wrong, and what to do about it. */
function heldBy(contradiction: Contradiction, made: Made, what: "pruning" | "series"): string {
  const { foreign, ahead } = contradiction;
  const why =
    foreign.length > 0
      ? `Older backups at this path are of another etcd cluster: ${listed(foreign)}.`
      : `The new backup has revision ${made.revision}, and older ones have a higher one: ${listed(ahead.slice(0, 1))}. etcd went back, or the member that gave the snapshot lags behind.`;
  const until = what === "pruning" ? "No backup is deleted until you have decided." : "";
  return `${why} ${until} If data was lost, restore one of the older backups by its path. If this is intended, set spec.backupPolicy.releaseBefore to ${releaseTime(contradiction)}: backups from before then count as part of this series. To keep them apart, change the path.`;
}

/** Metadata of objects that are gone. */
export async function forgetLonely(
  keys: readonly string[],
  owner: Owner,
  store: ObjectStore,
  worker: JobContext,
): Promise<void> {
  const { signal } = worker;
  const { backups, unfinished } = await ownedOf(keys, owner, store, worker);
  for (const key of [...backups.map((one) => one.key), ...unfinished])
    if ((await store.head(key, { signal })) === undefined) await store.delete(metadataKey(key), { signal });
}

/** The backup that an earlier pod of the same run has made. */
export async function doneBefore(
  job: BackupJob,
  store: ObjectStore,
  worker: JobContext,
): Promise<Metadata | undefined> {
  const { signal } = worker;
  const isOurs = (found: Metadata | undefined): found is Metadata =>
    found?.run === job.run && found.owner !== undefined && isSameOwner(found.owner, job.owner);
  const second = Math.floor(Date.parse(job.startedAt) / 1000) * 1000;
  const keys =
    job.key.t === "once"
      ? [job.key.path]
      : (await listSeries(job.key.path, store, worker)).keys.filter(
          (key) => inSeries(job.key.path, key)?.time === second,
        );
  for (const key of keys) {
    const found = await getMetadata(store, key, { signal });
    if (isOurs(found) && (await store.head(key, { signal })) !== undefined) return found;
  }
  return undefined;
}

interface Series {
  readonly keys: readonly string[];
  /** Keys of objects that have metadata and are not there. */
  readonly lonely: readonly string[];
}

export async function listSeries(path: string, store: ObjectStore, { signal }: JobContext): Promise<Series> {
  const keys = new Set<string>();
  const described: string[] = [];
  for await (const { key } of store.list(`${path}_v`, { signal })) {
    const of = metadataOf(key);
    if (of === undefined) {
      if (inSeries(path, key)) keys.add(key);
    } else if (inSeries(path, of)) described.push(of);
  }
  return { keys: [...keys], lonely: described.filter((key) => !keys.has(key)) };
}

const atOnce = 8;

interface Owned {
  readonly backups: readonly Metadata[];
  /** Keys of objects that a worker began, and did not live to describe. */
  readonly unfinished: readonly string[];
}

/** What is the owner's, as it is described beside the objects. */
export async function ownedOf(
  keys: readonly string[],
  owner: Owner,
  store: ObjectStore,
  { signal }: JobContext,
): Promise<Owned> {
  const found: (Metadata | Claim)[] = [];
  for (let at = 0; at < keys.length; at += atOnce) {
    const some = await Promise.all(keys.slice(at, at + atOnce).map((key) => getDescription(store, key, { signal })));
    found.push(...some.filter(isThere).filter((one) => one.owner !== undefined && isSameOwner(one.owner, owner)));
  }
  return {
    backups: found.filter((one): one is Metadata => !isClaim(one)),
    unfinished: found.filter(isClaim).map(({ key }) => key),
  };
}

const isThere = <T>(value: T | undefined): value is T => value !== undefined;

interface Deleting {
  readonly deleted: number;
  /** What the store said to those that it keeps. */
  readonly refused: readonly { readonly code: StoreErrorCode; readonly message: string }[];
}

/** The object goes before its metadata: what is left by a crash in between is still known as ours. */
export async function deleteAll(keys: readonly string[], store: ObjectStore, worker: JobContext): Promise<Deleting> {
  const { log, signal } = worker;
  let deleted = 0;
  const refused: Deleting["refused"][number][] = [];
  for (const key of keys) {
    try {
      await store.delete(key, { signal });
      deleted += 1;
      await store.delete(metadataKey(key), { signal });
      log.info("an old backup was deleted", { key });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      log.warn("the store keeps a backup", { key, error });
      refused.push({ code: error.code, message: failureOf(error).message });
      if (error.code !== "locked" && error.code !== "forbidden") break;
    }
  }
  return { deleted, refused };
}
