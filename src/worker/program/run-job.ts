// Does a job, whichever it is, and says how it ended.
import type { ObjectStore, StoreTarget } from "../../store/store.ts";
import { awaitName } from "../jobs/await-name.ts";
import { backup } from "../jobs/backup.ts";
import { check } from "../jobs/check.ts";
import { deleteOwned } from "../jobs/delete.ts";
import { failureOf, isExpected, WorkerFailure } from "./failure.ts";
import type { Done, Job, Result } from "../job.ts";
import { restore } from "../jobs/restore.ts";
import { verify } from "../jobs/verify.ts";
import type { JobContext } from "./job-context.ts";

export async function runJob(job: Job, worker: JobContext): Promise<Result> {
  const { log } = worker;
  const stores: ObjectStore[] = [];
  const open = async (target: StoreTarget): Promise<ObjectStore> => {
    const store = await worker.openStore(target);
    stores.push(store);
    return store;
  };
  log.info(`${job.do}: begins`, aboutJob(job));
  try {
    const did = await doJob(job, open, worker);
    log.info(`${job.do}: done`, { did });
    return { ok: true, did };
  } catch (error) {
    const failure = failureOf(error);
    log.error(`${job.do}: failed`, { ...failure, ...(!isExpected(error) && { error }) });
    return failure;
  } finally {
    for (const store of stores) store.close();
  }
}

async function doJob(job: Job, open: (target: StoreTarget) => Promise<ObjectStore>, worker: JobContext): Promise<Done> {
  if (job.do === "awaitName") return awaitName(job, worker.place(), worker);
  if (job.do === "restore") return restore(job, () => open(job.store), worker);
  const store = await open(job.store);
  if (job.do === "backup") return backup(job, store, worker);
  if (job.do === "check") return check(job, store, worker);
  if (job.do === "verify") return verify(job, store, worker);
  return deleteOwned(job, store, worker);
}

/** Enough to know which one it is. */
function aboutJob(job: Job): Record<string, unknown> {
  if (job.do === "awaitName") return { host: job.host };
  const { type } = job.store;
  if (job.do === "check") return { store: type, choice: job.choice };
  return { store: type, object: job.key };
}

const jobs: ReadonlySet<unknown> = new Set<Job["do"]>(["backup", "check", "restore", "verify", "delete", "awaitName"]);

/** The controllers of the same release write jobs, so it is enough to see that it is one. */
export function parseJob(text: string | undefined): Job {
  try {
    const parsed: unknown = JSON.parse(text ?? "");
    if (isJob(parsed)) return parsed;
  } catch {
    // Said below.
  }
  throw new WorkerFailure("misconfigured", "There is no job to do. The operator starts this program with one.");
}

function isJob(value: unknown): value is Job {
  return (
    typeof value === "object" &&
    value !== null &&
    "do" in value &&
    jobs.has(value.do) &&
    ("store" in value || "host" in value)
  );
}
