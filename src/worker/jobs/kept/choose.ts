// Which object a job reads: the one that is named, or the newest of a path, if all that could be meant are of one etcd.
import type { ObjectInfo, ObjectStore } from "../../../store/store.ts";
import { WorkerFailure } from "../../program/failure.ts";
import type { Choice } from "../../job.ts";
import { contradictionOf, described, listed, newestOfEach, type Traced } from "./lineage.ts";
import { getDescription, isClaim, isSameOwner, type Metadata, momentOf, tracedOf } from "./metadata.ts";
import { inSeries } from "./object-key.ts";
import type { JobContext } from "../../program/job-context.ts";

type Newest = Extract<Choice, { t: "newest" }>;

export async function chooseKey(choice: Choice, store: ObjectStore, worker: JobContext): Promise<string> {
  if (choice.t === "key") return choice.key;
  const before = choice.before === undefined ? Infinity : Date.parse(choice.before);
  if (Number.isNaN(before)) throw new WorkerFailure("misconfigured", `${choice.before} is not a time.`);
  const candidates = (await candidatesOf(choice, store, worker)).filter(({ by }) => by < before);
  const newest = newestOf(candidates);
  if (newest === undefined)
    throw new WorkerFailure(
      "notFound",
      `There is no backup ${choice.before === undefined ? "" : `from before ${choice.before} `}at ${choice.path} in ${store.name}.`,
    );
  const doubt = doubtAbout(newest, candidates, choice);
  if (doubt !== undefined) throw new WorkerFailure("misconfigured", doubt);
  return newest.key;
}

interface Candidate {
  readonly key: string;
  readonly takenAt: number;
  readonly revision: number;
  /**
   * When etcd had taken it, at the latest. Without metadata, and in that of earlier releases, only the begin of the run is
   * known; then the time at which the store had all of it counts.
   */
  readonly by: number;
  /** Undefined: nobody knows which etcd it is of. */
  readonly traced: Traced | undefined;
}

const atOnce = 16;

async function candidatesOf(choice: Newest, store: ObjectStore, { signal }: JobContext): Promise<Candidate[]> {
  const { path, owner } = choice;
  const objects: ObjectInfo[] = [];
  for await (const object of store.list(path, { signal }))
    if (object.key === path || inSeries(path, object.key)) objects.push(object);
  const found: Candidate[] = [];
  for (let at = 0; at < objects.length; at += atOnce) {
    const read = async (object: ObjectInfo): Promise<Candidate[]> => {
      const metadata = await getDescription(store, object.key, { signal });
      // What was begun and never proved is no backup.
      if (metadata && isClaim(metadata)) return [];
      const isTheirs = owner !== undefined && metadata?.owner !== undefined && !isSameOwner(metadata.owner, owner);
      return isTheirs ? [] : [candidateOf(object, path, metadata)];
    };
    found.push(...(await Promise.all(objects.slice(at, at + atOnce).map(read))).flat());
  }
  return found;
}

function candidateOf({ key, modified }: ObjectInfo, path: string, metadata: Metadata | undefined): Candidate {
  const series = inSeries(path, key);
  if (metadata === undefined) {
    const takenAt = series?.time ?? modified;
    return { key, takenAt, revision: series?.revision ?? 0, by: Math.max(takenAt, modified), traced: undefined };
  }
  const takenAt = momentOf(metadata);
  const by = metadata.snapshotAt === undefined ? Math.max(takenAt, modified) : takenAt;
  return { key, takenAt, revision: metadata.revision, by, traced: tracedOf(metadata) };
}

/** The one that has the most, among those of the etcd that the last one is of: another may be of a member that lags, or of a clock that does. */
function newestOf(candidates: readonly Candidate[]): Candidate | undefined {
  const [last] = candidates.toSorted((a, b) => b.takenAt - a.takenAt || b.revision - a.revision);
  if (last?.traced === undefined) return last;
  const { clusterId } = last.traced;
  const same = candidates.filter(({ traced }) => traced?.clusterId === clusterId);
  return same.toSorted((a, b) => b.revision - a.revision || b.takenAt - a.takenAt)[0];
}

/** Why a person has to say which one is meant; undefined: nobody has to. */
function doubtAbout(newest: Candidate, candidates: readonly Candidate[], choice: Newest): string | undefined {
  const released = Date.parse(choice.releasedBefore ?? "");
  const known = candidates.flatMap(({ traced }) =>
    traced !== undefined && !(traced.takenAt < released) ? [traced] : [],
  );
  const name = "Name the one to restore by its full path, without before and without backup";
  const { traced } = newest;
  // Backups of etcd-operator 0.9 say nothing of themselves. Where all are so, the last one is meant, as it was there.
  if (traced === undefined)
    return known.length === 0
      ? undefined
      : `It is not known which etcd cluster the newest backup at ${choice.path} is of, ${newest.key}: it has no metadata. Others have: ${listed(newestOfEach(known))}. ${name}.`;
  const contradiction = contradictionOf(
    traced,
    known.filter(({ key }) => key !== newest.key),
  );
  if (contradiction === undefined) return undefined;
  const { foreign, ahead } = contradiction;
  return foreign.length > 0
    ? `The backups at ${choice.path} are of different etcd clusters: ${listed([traced, ...foreign])}. ${name}; or with before, if only one of them has backups from before that time.`
    : `The newest backup at ${choice.path} has a lower revision than an older one: ${described(traced)}; ${listed(ahead.slice(0, 1))}. ${name}.`;
}
