// Which backups of a series go: beyond a number, or an age. The newest stays, what must stay stays, and objects that are
// not provably of this EtcdBackup are not looked at.
import { StoreError, type StoreErrorCode } from "../../store/errors.ts";
import type { ObjectStore } from "../../store/store.ts";
import { failureOf } from "../program/failure.ts";
import type { BackupDone, BackupJob, Owner, Retention } from "../job.ts";
import { type Claim, getDescription, getMetadata, isClaim, type Metadata } from "./metadata.ts";
import { inSeries, metadataKey, metadataOf } from "./object-key.ts";
import type { Worker } from "../program/worker.ts";

export interface Kept {
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly takenAt: number;
  readonly revision: number;
}

/** Newest first. Of two of the same moment the one with the higher revision is newer, as numbers: 100 after 99. */
export const newestFirst = (a: Kept, b: Kept): number => b.takenAt - a.takenAt || b.revision - a.revision;

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

type Retained = Pick<BackupDone, "deleted" | "count" | "kept">;

/** `made`: the key of the backup of this run, which is never deleted. It is good, whatever comes of older ones. */
export async function applyRetention(
  job: BackupJob,
  made: string,
  store: ObjectStore,
  worker: Worker,
): Promise<Retained> {
  try {
    return await retain(job, made, store, worker);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    worker.log.warn("older backups could not be looked after", { error });
    return { deleted: 0, count: 1, kept: `Older backups could not be looked after: ${error.message}` };
  }
}

async function retain(job: BackupJob, made: string, store: ObjectStore, worker: Worker): Promise<Retained> {
  const { retention, key } = job;
  if (key.t === "once" && retention === undefined) return { deleted: 0, count: 1 };
  const path = key.path;
  const { keys, lonely } = await listSeries(path, store, worker);
  if (retention === undefined) return { deleted: 0, count: keys.length };
  const { backups: owned, unfinished } = await ownedOf(keys, job.owner, store, worker);
  const objects = owned.map(({ key, takenAt, revision }) => ({ key, takenAt: Date.parse(takenAt), revision }));
  const keep = [...retention.keep, made];
  // By now the backup of this run is proved, and whoever began another and never ended it has been given up.
  const chosen = [...chooseDeletions(objects, { ...retention, keep }, worker.time()), ...unfinished];
  const { deleted, refused } = await deleteAll(chosen, store, worker);
  await forgetLonely(lonely, job.owner, store, worker);
  return {
    deleted,
    count: owned.length + unfinished.length - deleted + (key.t === "once" ? 1 : 0),
    ...(refused.length > 0 && { kept: `The store keeps ${refused.length} that should go: ${refused[0]?.message}` }),
  };
}

/** Metadata of objects that are gone. */
export async function forgetLonely(
  keys: readonly string[],
  owner: Owner,
  store: ObjectStore,
  worker: Worker,
): Promise<void> {
  const { signal } = worker;
  const { backups, unfinished } = await ownedOf(keys, owner, store, worker);
  for (const key of [...backups.map((one) => one.key), ...unfinished])
    if ((await store.head(key, { signal })) === undefined) await store.delete(metadataKey(key), { signal });
}

/** The backup that an earlier pod of the same run has made. */
export async function doneBefore(job: BackupJob, store: ObjectStore, worker: Worker): Promise<Metadata | undefined> {
  const { signal } = worker;
  const isOurs = (found: Metadata | undefined): found is Metadata =>
    found?.run === job.run && found.owner !== undefined && isSame(found.owner, job.owner);
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
  /** Objects of the series. */
  readonly keys: readonly string[];
  /** Keys of objects that have metadata and are not there. */
  readonly lonely: readonly string[];
}

export async function listSeries(path: string, store: ObjectStore, { signal }: Worker): Promise<Series> {
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
  { signal }: Worker,
): Promise<Owned> {
  const found: (Metadata | Claim)[] = [];
  for (let at = 0; at < keys.length; at += atOnce) {
    const some = await Promise.all(keys.slice(at, at + atOnce).map((key) => getDescription(store, key, { signal })));
    found.push(...some.filter(isThere).filter((one) => one.owner !== undefined && isSame(one.owner, owner)));
  }
  return {
    backups: found.filter((one): one is Metadata => !isClaim(one)),
    unfinished: found.filter(isClaim).map(({ key }) => key),
  };
}

const isThere = <T>(value: T | undefined): value is T => value !== undefined;
const isSame = (a: Owner, b: Owner): boolean => a.namespace === b.namespace && a.name === b.name;

interface Deleting {
  readonly deleted: number;
  /** What the store said to those that it keeps. */
  readonly refused: readonly { readonly code: StoreErrorCode; readonly message: string }[];
}

/** The object goes before its metadata: what is left by a crash in between is still known as ours. */
export async function deleteAll(keys: readonly string[], store: ObjectStore, worker: Worker): Promise<Deleting> {
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
