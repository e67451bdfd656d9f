// What a backup would replace: only an object of the same etcd, which has nothing that the backup has not.
import type { ObjectStore } from "../../../store/store.ts";
import { WorkerFailure } from "../../program/failure.ts";
import type { BackupJob } from "../../job.ts";
import type { Watch } from "../../program/watch.ts";
import { contradictionOf, listed, releaseTime, type Traced } from "./lineage.ts";
import { getDescription, getMetadata, isClaim, isSameOwner, tracedOf } from "./metadata.ts";
import { stagedKey } from "./object-key.ts";

/** Whether there is an object under this key. Throws if it must not be replaced. */
export async function isTaken(made: Traced, job: BackupJob, store: ObjectStore, { signal }: Watch): Promise<boolean> {
  const { key } = made;
  if ((await store.head(key, { signal })) === undefined) return false;
  const found = await getDescription(store, key, { signal });
  const owner = found?.owner;
  if (job.key.t === "series" && owner !== undefined && !isSameOwner(owner, job.owner))
    throw new WorkerFailure(
      "misconfigured",
      `${key} in ${store.name} belongs to the EtcdBackup ${owner.namespace}/${owner.name}. Give each EtcdBackup a path of its own.`,
    );
  // A worker that died while it replaced the object has left its description beside the copy.
  const known = found && !isClaim(found) ? found : await getMetadata(store, stagedKey(key), { signal });
  const older = known && { ...tracedOf(known), key };
  const released = Date.parse(job.releasedBefore ?? "");
  if (older === undefined || older.takenAt < released) return true;
  const contradiction = contradictionOf(made, [older]);
  if (contradiction === undefined) return true;
  const { foreign } = contradiction;
  const what =
    foreign.length > 0
      ? `a backup of another etcd cluster, ${listed(foreign)}`
      : `a backup with a higher revision, ${older.revision}, and etcd has ${made.revision} now: it went back, or this member lags behind`;
  throw new WorkerFailure(
    "misconfigured",
    `${key} in ${store.name} holds ${what}. It is not replaced. Give this EtcdBackup a path of its own; or, if the older backup may go, set spec.backupPolicy.releaseBefore to ${releaseTime(contradiction)}.`,
  );
}
