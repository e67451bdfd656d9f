// Which object a job reads: the one that is named, or the newest of a path.
import type { ObjectInfo, ObjectStore } from "../../store/store.ts";
import { WorkerFailure } from "../program/failure.ts";
import type { Choice } from "../job.ts";
import { getMetadata } from "./metadata.ts";
import { inSeries } from "./object-key.ts";
import { newestFirst } from "./retention.ts";
import type { Worker } from "../program/worker.ts";

export async function chooseKey(choice: Choice, store: ObjectStore, worker: Worker): Promise<string> {
  if (choice.t === "key") return choice.key;
  const { path } = choice;
  const before = choice.before === undefined ? Infinity : Date.parse(choice.before);
  if (Number.isNaN(before)) throw new WorkerFailure("misconfigured", `${choice.before} is not a time.`);
  const candidates: Candidate[] = [];
  for await (const object of store.list(path, { signal: worker.signal })) {
    const candidate = await candidateOf(object, path, store, worker);
    if (candidate && candidate.takenAt < before) candidates.push(candidate);
  }
  for (const candidate of candidates.sort(newestFirst))
    if (await beganBefore(candidate, before, store, worker)) return candidate.key;
  throw new WorkerFailure(
    "notFound",
    `There is no backup ${choice.before === undefined ? "" : `from before ${choice.before} `}at ${path} in ${store.name}.`,
  );
}

interface Candidate {
  readonly key: string;
  readonly takenAt: number;
  readonly revision: number;
  /** The time in a key has no milliseconds. */
  readonly precision: "second" | "millisecond";
}

/** Only a lone object needs its metadata to be read: others have their time in their key. */
async function candidateOf(
  { key, modified }: ObjectInfo,
  path: string,
  store: ObjectStore,
  { signal }: Worker,
): Promise<Candidate | undefined> {
  const series = inSeries(path, key);
  if (series) return { key, takenAt: series.time, revision: series.revision, precision: "second" };
  if (key !== path) return undefined;
  const metadata = await getMetadata(store, key, { signal });
  const takenAt = metadata ? Date.parse(metadata.takenAt) : modified;
  return { key, takenAt, revision: metadata?.revision ?? 0, precision: "millisecond" };
}

async function beganBefore(
  { key, takenAt, precision }: Candidate,
  before: number,
  store: ObjectStore,
  { signal }: Worker,
): Promise<boolean> {
  if (precision === "millisecond" || takenAt + 1000 <= before) return true;
  const metadata = await getMetadata(store, key, { signal });
  return metadata === undefined || Date.parse(metadata.takenAt) < before;
}
