// Takes a backup: streams a snapshot of the best member into the store, writes what is known of it beside it, and reads
// everything back. Only then it is one.
import type { Snapshot } from "../../etcd/member.ts";
import { printableLine } from "../../kube/objects/printable.ts";
import { seal } from "../../seal/seal.ts";
import { sealedBytes } from "../../seal/format.ts";
import { chooseKey, type SealKey } from "../../seal/key.ts";
import type { ObjectStore } from "../../store/store.ts";
import { endpointsOf } from "./etcd-access.ts";
import { WorkerFailure } from "../program/failure.ts";
import { Hashed } from "../program/hashed.ts";
import type { BackupDone, BackupFacts, BackupJob } from "../job.ts";
import type { Traced } from "./kept/lineage.ts";
import { type Metadata, putMetadata } from "./kept/metadata.ts";
import { metadataKey, objectKey, stagedKey } from "./kept/object-key.ts";
import { pulled, resumed } from "../program/pulled.ts";
import { endLeftovers } from "./kept/leftovers.ts";
import { isTaken } from "./kept/predecessor.ts";
import { readBack, withdrawn } from "./read-back.ts";
import { replace } from "./kept/replace.ts";
import { applyRetention, doneBefore } from "./kept/retention.ts";
import { after, before, type Before } from "./revision.ts";
import { isCurrent, type ChosenMember, sourcesAt } from "./best-member.ts";
import { counted, type Watch, watched } from "../program/watch.ts";
import type { JobContext } from "../program/job-context.ts";

export async function backup(job: BackupJob, store: ObjectStore, worker: JobContext): Promise<BackupDone> {
  const began = worker.clock.now();
  const key = job.encryption && (await chooseKey(job.encryption.folder, job.encryption.keyId));
  const facts = (await earlierPod(job, store, worker)) ?? (await take(job, key, store, worker));
  const retained = await applyRetention(job, facts, store, worker);
  return { do: "backup", backup: facts, durationMs: Math.round(worker.clock.now() - began), ...retained };
}

/** A pod of this run that died after its work was done has left all of it. */
async function earlierPod(job: BackupJob, store: ObjectStore, worker: JobContext): Promise<BackupFacts | undefined> {
  const found = await doneBefore(job, store, worker);
  if (found === undefined) return undefined;
  worker.log.info("this run has made its backup already", { key: found.key });
  try {
    await watched({ ...worker, ...job, what: "read-back" }, (watch) => readBack(store, found, watch));
    return factsOf(found);
  } catch (error) {
    worker.signal.throwIfAborted();
    worker.log.warn("it cannot be proved, and is made again", { key: found.key, error });
    return undefined;
  }
}

async function take(
  job: BackupJob,
  key: SealKey | undefined,
  store: ObjectStore,
  worker: JobContext,
): Promise<BackupFacts> {
  const { signal } = worker;
  await endLeftovers(job.key, job.owner, store, worker);
  const sources = await sourcesAt(await endpointsOf(job.source), worker);
  const claimed = new Set<string>();
  const { metadata, at } = await watched({ ...worker, ...job, what: "upload" }, async (watch) => {
    const stream = await firstThatStreams(sources, job, watch, { ...worker, signal: watch.signal });
    const made = tracedStream(stream, job);
    // What is there stays until this one is proved.
    const at = (await isTaken(made, job, store, watch)) ? stagedKey(made.key) : made.key;
    claimed.add(at);
    await putMetadata(store, { formatVersion: 1, key: at, unfinished: true, owner: job.owner }, watch);
    const about = { job, name: made.key, at, key, stream, store, watch };
    return { metadata: await upload({ ...about, worker: { ...worker, signal: watch.signal } }), at };
  }).catch(async (error: unknown) => {
    for (const one of claimed) await unclaim(one, store, worker);
    throw error;
  });
  const isNew = at === metadata.key;
  try {
    await putMetadata(store, { ...metadata, key: at }, { signal });
    await watched({ ...worker, ...job, what: "read-back" }, (watch) =>
      readBack(store, { ...metadata, key: at }, watch),
    );
  } catch (error) {
    throw await withdrawn(store, at, isNew ? "" : `${metadata.key} stays as it was.`, error);
  }
  if (!isNew) await watched({ ...worker, ...job, what: "replacement" }, (watch) => replace(metadata, at, store, watch));
  return factsOf(metadata);
}

function tracedStream({ source, before }: Stream, { key, startedAt, cluster }: BackupJob): Traced {
  const { revision } = before;
  const { clusterId } = source.status;
  const name = objectKey(key, revision, startedAt);
  return { key: name, takenAt: Date.parse(startedAt), revision, clusterId, ...(cluster && { cluster }) };
}

/** If it cannot be taken back now, the next run forgets it, with the object if that came to be after all. */
async function unclaim(key: string, store: ObjectStore, { log }: JobContext): Promise<void> {
  try {
    if ((await store.head(key)) === undefined) await store.delete(metadataKey(key));
  } catch (error) {
    log.info("what was to be written beside the backup stays for now", { key, error });
  }
}

interface Stream {
  readonly source: ChosenMember;
  readonly before: Before;
  /** Whether the member had everything that was acknowledged before. */
  readonly current: boolean;
  /** When etcd had taken it, at the latest; milliseconds since 1970. */
  readonly takenBy: number;
  readonly first: IteratorResult<Uint8Array>;
  readonly rest: AsyncIterator<Uint8Array>;
  /** Once all of it was read. */
  snapshot(): Snapshot;
  failure(): unknown;
}

async function firstThatStreams(
  sources: readonly ChosenMember[],
  job: BackupJob,
  watch: Watch,
  worker: JobContext,
): Promise<Stream> {
  let last: unknown;
  for (const source of sources) {
    try {
      return await begin(source, job, watch, worker);
    } catch (error) {
      watch.signal.throwIfAborted();
      worker.log.warn("a member gives no snapshot", { endpoint: source.member.endpoint, error });
      last = error;
    }
  }
  throw last;
}

/** Resolves with the first chunk, which a large database lets wait for. */
async function begin(source: ChosenMember, job: BackupJob, watch: Watch, worker: JobContext): Promise<Stream> {
  const { signal } = watch;
  const patience = job.stalledAfterSeconds * 1000;
  const known = await before(source, patience / 2, worker);
  const current = await isCurrent(source, worker);
  watch.moved(0);
  let snapshot: Snapshot | undefined;
  let failure: unknown;
  const rest = pulled(async (push) => {
    try {
      snapshot = await source.member.snapshot(push, { answerWithin: patience, signal });
    } catch (error) {
      failure = error;
      throw error;
    }
  });
  const first = await rest.next();
  // etcd takes the snapshot before it sends any of it. The later one of two clocks counts.
  const takenBy = Math.max(worker.time(), Date.parse(job.startedAt));
  if (first.done === true) throw new WorkerFailure("etcd", `${source.member.endpoint} sent an empty snapshot.`);
  worker.log.info("the snapshot comes", {
    endpoint: source.member.endpoint,
    version: source.status.version,
    revision: known.revision,
    databaseBytes: source.status.dbSize,
  });
  return {
    source,
    before: known,
    current,
    takenBy,
    first,
    rest,
    snapshot() {
      if (snapshot === undefined) throw new WorkerFailure("failed", "The store did not read the whole snapshot.");
      return snapshot;
    },
    failure: () => failure,
  };
}

interface Upload {
  readonly job: BackupJob;
  /** The key of the backup, which is what identifies it. */
  readonly name: string;
  /** The key under which it is written, which may be another until it is proved. */
  readonly at: string;
  readonly key: SealKey | undefined;
  readonly stream: Stream;
  readonly store: ObjectStore;
  readonly watch: Watch;
  readonly worker: JobContext;
}

async function upload({ job, name, at, key, stream, store, watch, worker }: Upload): Promise<Metadata> {
  const { source, first, rest } = stream;
  const plain = counted(resumed(first, rest), watch);
  const sealed = new Hashed();
  try {
    const revisions = await after(source, stream.before, worker);
    const about = await aboutCluster(source, job, worker);
    const { signal } = watch;
    const { startedAt: takenAt, cluster } = job;
    const snapshotAt = new Date(stream.takenBy).toISOString();
    const of = { key: name, takenAt, snapshotAt, ...revisions, ...about, ...(cluster && { cluster }) };
    const body = key ? sealed.of(seal(plain, key, of)) : plain;
    await store.put(at, body, { signal, expectedBytes: mostBytes(source.status.dbSize, key) });
    const snapshot = stream.snapshot();
    // etcd's client knows it of a plain one: it compared the digest at the end.
    const { bytes, sha256 } = key ? sealed.finish() : snapshot;
    const storageVersion = snapshot.version ?? source.status.storageVersion;
    return {
      formatVersion: 1,
      key: name,
      bytes,
      sha256,
      snapshotBytes: snapshot.bytes,
      takenAt: job.startedAt,
      snapshotAt,
      current: stream.current,
      ...revisions,
      ...about,
      ...(storageVersion !== undefined && { storageVersion }),
      ...(key && { keyId: key.id }),
      owner: job.owner,
      run: job.run,
      ...(job.cluster && { cluster: job.cluster }),
    };
  } catch (error) {
    // What the store says about a source that broke off is less than why it did.
    throw stream.failure() ?? error;
  } finally {
    await rest.return?.();
  }
}

/** The database may have grown since it was asked for its size. */
function mostBytes(databaseBytes: number, key: SealKey | undefined): number {
  const plain = Math.ceil(databaseBytes * 1.05) + (1 << 20);
  return key ? sealedBytes(plain, key.id) : plain;
}

async function aboutCluster(
  { member, status }: ChosenMember,
  job: BackupJob,
  { log, signal }: JobContext,
): Promise<Pick<BackupFacts, "etcdVersion" | "clusterId" | "members" | "auth">> {
  const listed = member.memberList({ linearizable: false }, { signal }).then(({ members }) => members.length);
  // A learner lists nobody.
  const members = await listed.catch(() => job.source.endpoints.length);
  const auth = await member.authentication({ signal }).catch((error: unknown) => {
    log.info("whether authentication is on is not known", { error });
    return undefined;
  });
  signal.throwIfAborted();
  const { version, clusterId } = status;
  return { etcdVersion: printableLine(version), clusterId, members, ...(auth && { auth: auth === "on" }) };
}

function factsOf(metadata: Metadata): BackupFacts {
  const { formatVersion: _, run: __, cluster: ___, ...facts } = metadata;
  return facts;
}
