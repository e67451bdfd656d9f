// Makes the data of a member from a backup, once. It runs before each start of the member, also after a crash of its node:
// data that is there is left alone, and a restore that was interrupted begins again. The data appears in one step.
import { chmod, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import * as path from "node:path";
import { follow } from "../../kube/abort.ts";
import type { ObjectStore } from "../../store/store.ts";
import { factsOf, refuseNewer } from "./check.ts";
import { sync, syncTree } from "../program/durable.ts";
import { restoreSnapshot, snapshotStatus } from "./etcdutl.ts";
import { diskFull, hasCode, WorkerFailure } from "../program/failure.ts";
import { type Fetched, withFetched } from "./fetch.ts";
import type { Done, ProvedSnapshot, RestoreJob } from "../job.ts";
import type { JobContext } from "../program/job-context.ts";

/** The store is opened only if it is needed: a member with its data starts without it. */
export async function restore(
  job: RestoreJob,
  openStore: () => Promise<ObjectStore>,
  worker: JobContext,
): Promise<Done> {
  const { dataDir } = job;
  if (await exists(path.join(dataDir, "member"))) {
    worker.log.info("the member has its data: nothing is restored", { dataDir });
    return { do: "restore", restored: false };
  }
  if (worker.restoring === "refused")
    throw new WorkerFailure(
      "failed",
      "This member has started before and its data is gone. It must not be restored again: what it had acknowledged since would be lost. The operator replaces it.",
    );
  await refuseOtherFiles(dataDir);
  const store = await openStore();
  return withFetched(job, store, worker, async (fetched) => {
    if (fetched.sha256 !== job.sha256)
      throw new WorkerFailure(
        "damaged",
        `${job.key} in ${store.name} is another object than the one that was checked. Restore again, so that it is checked.`,
      );
    // The object is byte for byte the one that was checked, and what is in it was found then.
    if (job.proved) refuseNewer(job.targetVersion, job.proved, fetched);
    const found = await makeData(job, fetched, worker);
    return { do: "restore", restored: true, backup: factsOf(job.key, fetched, found) };
  });
}

/** The data is put where etcd looks for it only when the snapshot has proved to be sound, and of a version that may be served. */
async function makeData(job: RestoreJob, fetched: Fetched, worker: JobContext): Promise<ProvedSnapshot> {
  const { dataDir, member, token, bumpRevision } = job;
  const unfinished = `${dataDir}.restoring`;
  await rm(unfinished, { recursive: true, force: true });
  try {
    const made = { ...member, token, bumpRevision, dataDir: unfinished };
    // Each reads the whole file and keeps one processor busy, so they run side by side.
    const [found] = await together(
      worker.signal,
      (signal) => job.proved ?? examined(job, fetched, { ...worker, signal }),
      (signal) => restoreSnapshot(fetched.file, made, { ...worker, signal, scratch: path.dirname(dataDir) }),
    );
    await chmod(unfinished, 0o700);
    // What was not yet written of the snapshot need not be any more, and does not hold up the data.
    await Promise.all([rm(fetched.file), syncTree(unfinished)]);
    await rmdir(dataDir).catch(unlessAbsent);
    await rename(unfinished, dataDir);
    await sync(path.dirname(dataDir));
    worker.log.info("the data of the member is restored", { dataDir, member: member.name, bumpRevision });
    return found;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw hasCode(error, "ENOSPC", "EDQUOT") ? diskFull(path.dirname(dataDir), error) : error;
  }
}

async function examined(job: RestoreJob, fetched: Fetched, worker: JobContext): Promise<ProvedSnapshot> {
  const found = await snapshotStatus(fetched.file, worker);
  refuseNewer(job.targetVersion, found, fetched);
  return found;
}

/** Both, or the first failure. Then the other one has ended, too: what it made can be removed. */
async function together<A, B>(
  signal: AbortSignal,
  one: (signal: AbortSignal) => A | Promise<A>,
  other: (signal: AbortSignal) => Promise<B>,
): Promise<[A, B]> {
  const following = follow(signal);
  const both = [one(following.signal), other(following.signal)] as const;
  try {
    return await Promise.all(both);
  } catch (error) {
    following.abort(error instanceof Error ? error : new Error(String(error)));
    await Promise.allSettled(both);
    throw error;
  } finally {
    following.release();
  }
}

/** Said before the snapshot is fetched. An empty folder is fine. */
async function refuseOtherFiles(dataDir: string): Promise<void> {
  const found = await readdir(dataDir).catch(unlessAbsent);
  if (found !== undefined && found.length > 0)
    throw new WorkerFailure(
      "dataExists",
      `${dataDir} holds ${found.slice(0, 5).join(", ")} and no data of a member. Empty it, or use another volume.`,
    );
}

function unlessAbsent(error: unknown): undefined {
  if (!hasCode(error, "ENOENT")) throw error;
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    (error: unknown) => {
      unlessAbsent(error);
      return false;
    },
  );
