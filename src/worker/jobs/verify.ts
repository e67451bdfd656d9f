// Compares what an etcd serves, which was restored for this purpose, with what the backup says of itself.
import { EtcdError } from "../../etcd/errors.ts";
import { isAccessRefusal } from "../../etcd/login.ts";
import type { EtcdMember, KvHash, MemberStatus } from "../../etcd/member.ts";
import { pause } from "../../kube/clock.ts";
import type { ObjectStore } from "../../store/store.ts";
import { endpointsOf } from "./etcd-access.ts";
import { WorkerFailure } from "../program/failure.ts";
import type { Done, VerifyJob } from "../job.ts";
import { getMetadata, type Metadata } from "./kept/metadata.ts";
import type { JobContext } from "../program/job-context.ts";

/** Milliseconds. Short, so that no lease ends before the first check. */
const askEvery = 100;

export async function verify(job: VerifyJob, store: ObjectStore, worker: JobContext): Promise<Done> {
  const { log, signal } = worker;
  const [endpoint = { url: job.endpoint }] = await endpointsOf({
    endpoints: [job.endpoint],
    ...(job.loginFolder !== undefined && { loginFolder: job.loginFolder }),
  });
  const metadata = await getMetadata(store, job.key, { signal });
  const member = worker.members.at(endpoint);
  const { revision } = await answer(member, job, worker);
  if (metadata === undefined) {
    log.info("the backup has no metadata to compare with", { key: job.key, revision });
    return { do: "verify", revision, comparedHash: false };
  }
  if (revision < metadata.revision) throw mismatch("revision", revision, metadata.revision);
  const hash = await hashAt(member, metadata, worker);
  if (hash && hash.hash !== metadata.hash?.value) throw mismatch("hash", hash.hash, metadata.hash?.value);
  // An equal hash says that all is there. Then leases have ended since, and etcd has deleted their keys.
  if (metadata.exactRevision && revision !== metadata.revision && hash === undefined)
    throw mismatch("revision", revision, metadata.revision);
  return { do: "verify", revision, comparedHash: hash !== undefined, ...(hash && { hash: hash.hash }) };
}

async function answer(member: EtcdMember, job: VerifyJob, { clock, signal }: JobContext): Promise<MemberStatus> {
  const until = clock.now() + job.stalledAfterSeconds * 1000;
  for (;;) {
    try {
      return await member.status({ deadline: 2000, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (isAccessRefusal(error)) throw accessDenied(error);
      if (clock.now() >= until)
        throw new WorkerFailure(
          "stalled",
          `The etcd that serves the restored backup did not answer within ${job.stalledAfterSeconds} s. See the log of its container.`,
          { cause: error },
        );
    }
    await pause(clock, askEvery, signal);
  }
}

/** Undefined: it cannot be compared. */
async function hashAt(
  member: EtcdMember,
  { hash }: Metadata,
  { log, signal }: JobContext,
): Promise<KvHash | undefined> {
  if (hash === undefined) return undefined;
  try {
    const found = await member.hashKv(hash.revision, { signal });
    if (found.compactRevision === hash.compactRevision) return found;
    log.info("the hash of the keys cannot be compared: etcd was compacted in between", { ...found });
  } catch (error) {
    signal.throwIfAborted();
    if (isAccessRefusal(error)) throw accessDenied(error);
    if (!(error instanceof EtcdError) || (error.reason !== "unimplemented" && error.reason !== "compacted"))
      throw error;
    log.info("the hash of the keys cannot be compared", { error });
  }
  return undefined;
}

const accessDenied = (cause: EtcdError): WorkerFailure =>
  new WorkerFailure(
    "etcd",
    "Authentication is on in this backup, so that it can be verified only with a login. Name a Secret with one.",
    { cause },
  );

const mismatch = (what: "revision" | "hash", served: number, recorded: number | undefined): WorkerFailure =>
  new WorkerFailure(
    "damaged",
    `What etcd serves from the backup is not what was backed up: its ${what} is ${served}, and ${recorded} was recorded. Use another backup.`,
  );
