// What revision a snapshot has. The stream does not say it, so it is bracketed: what etcd has before the snapshot is asked
// for, and what it has once the first bytes are here. The snapshot is from a moment in between.
import { EtcdError } from "../../etcd/errors.ts";
import type { KvHash } from "../../etcd/member.ts";
import type { BackupFacts } from "../job.ts";
import type { ChosenMember } from "./best-member.ts";
import type { JobContext } from "../program/job-context.ts";

type Revision = Pick<BackupFacts, "revision" | "exactRevision" | "hash">;

export interface Before {
  readonly revision: number;
  readonly hash: KvHash | undefined;
}

/** `within`: milliseconds. etcd reads its whole database for the hash, and a backup without one is better than none. */
export async function before(
  { member, status }: ChosenMember,
  within: number,
  { log, signal }: JobContext,
): Promise<Before> {
  const { revision } = status;
  try {
    return { revision, hash: await member.hashKv(revision, { deadline: within, signal }) };
  } catch (error) {
    signal.throwIfAborted();
    // 3.2 has none, a learner gives none, and the revision may be compacted by now.
    log.info("no hash of the keys is recorded", { endpoint: member.endpoint, error });
    return { revision, hash: undefined };
  }
}

export async function after(
  { member }: ChosenMember,
  { revision, hash }: Before,
  worker: JobContext,
): Promise<Revision> {
  const revisions = { revision, exactRevision: (await revisionNow(member, worker)) === revision };
  if (hash === undefined || (await isCompacted(member, hash, worker))) return revisions;
  const { hash: value, compactRevision } = hash;
  return { ...revisions, hash: { value, revision: hash.revision, compactRevision } };
}

/** Undefined: it does not say so. Then what it said before is a lower bound. */
async function revisionNow(member: ChosenMember["member"], { log, signal }: JobContext): Promise<number | undefined> {
  try {
    return (await member.status({ signal })).revision;
  } catch (error) {
    signal.throwIfAborted();
    log.info("whether the revision is exact is not known", { endpoint: member.endpoint, error });
    return undefined;
  }
}

/**
 * Whether etcd was compacted since: hashes are equal only if that is. A read at the revision up to which it was compacted
 * is allowed, one before is not; reading one key costs less than another hash.
 */
async function isCompacted(
  member: ChosenMember["member"],
  hash: KvHash,
  { log, signal }: JobContext,
): Promise<boolean> {
  try {
    await member.get("\0", { serializable: true, revision: Math.max(1, hash.compactRevision) }, { signal });
    return false;
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof EtcdError && error.reason === "compacted" ? "etcd was compacted meanwhile" : error;
    log.info("no hash of the keys is recorded", { endpoint: member.endpoint, why });
    return true;
  }
}
