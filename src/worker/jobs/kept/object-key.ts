// The names of objects: of a lone backup, of one in a series, as etcd-operator 0.9 named them, and of the metadata beside it.
import type { KeyPlan } from "../../job.ts";

/** `<path>_v<revision>_<UTC yyyy-MM-dd-HH:mm:ss>`; lone backups are named by the path alone. */
export function objectKey({ t, path }: KeyPlan, revision: number, startedAt: string): string {
  if (t === "once") return path;
  return `${path}_v${revision}_${new Date(startedAt).toISOString().slice(0, 19).replace("T", "-")}`;
}

interface SeriesKey {
  readonly revision: number;
  /** Milliseconds since 1970, to the second. */
  readonly time: number;
}

const ending = /_v(\d{1,19})_(\d{4}-\d\d-\d\d)-(\d\d:\d\d:\d\d)$/;

/** Undefined: it is not an object of the series of this path. */
export function inSeries(path: string, key: string): SeriesKey | undefined {
  const match = key.startsWith(path) ? ending.exec(key.slice(path.length)) : null;
  if (match?.index !== 0) return undefined;
  const time = Date.parse(`${match[2]}T${match[3]}Z`);
  return Number.isNaN(time) ? undefined : { revision: Number(match[1]), time };
}

/** When a backup of some series was begun; undefined: the key does not say it. Milliseconds since 1970. */
export function timeIn(key: string): number | undefined {
  const match = ending.exec(key);
  return match ? inSeries(key.slice(0, match.index), key)?.time : undefined;
}

/** Where a backup is proved that is to replace an object. */
export const stagedKey = (key: string): string => `${key}.next`;

const metadataEnd = ".json";

export const metadataKey = (key: string): string => `${key}${metadataEnd}`;

/** The key of the object that this is the metadata of; undefined: it is none. */
export const metadataOf = (key: string): string | undefined =>
  key.endsWith(metadataEnd) ? key.slice(0, -metadataEnd.length) : undefined;
