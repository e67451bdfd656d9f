// Deletes the backups of an EtcdBackup, and nothing that is not provably its own.
import type { ObjectStore } from "../../store/store.ts";
import { WorkerFailure } from "../program/failure.ts";
import type { DeleteJob, Done } from "../job.ts";
import { endLeftovers } from "./kept/leftovers.ts";
import { stagedKey } from "./kept/object-key.ts";
import { deleteAll, forgetLonely, listSeries, ownedOf } from "./kept/retention.ts";
import type { JobContext } from "../program/job-context.ts";

export async function deleteOwned(job: DeleteJob, store: ObjectStore, worker: JobContext): Promise<Done> {
  const { path, t } = job.key;
  await endLeftovers(job.key, job.owner, store, worker);
  const { keys, lonely } =
    t === "once" ? { keys: [path, stagedKey(path)], lonely: [] } : await listSeries(path, store, worker);
  const { backups, unfinished } = await ownedOf(keys, job.owner, store, worker);
  const owned = [...backups.map(({ key }) => key), ...unfinished];
  const { deleted, refused } = await deleteAll(owned, store, worker);
  const lasting = refused.find(({ code }) => code !== "locked");
  if (lasting) throw new WorkerFailure("store", `${deleted} of ${owned.length} were deleted. ${lasting.message}`);
  await forgetLonely(lonely, job.owner, store, worker);
  return { do: "delete", deleted, locked: refused.length };
}
