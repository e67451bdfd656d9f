// Proves that a backup can be restored by the etcd that is to serve it, and says what it is. Touches nothing.
import { minorOf, parseVersion, version } from "../../etcd/versions/version.ts";
import type { ObjectStore } from "../../store/store.ts";
import { chooseKey } from "./kept/choose.ts";
import { type FileHash, hashOfFile, snapshotStatus } from "./etcdutl.ts";
import { type Fetched, withFetched } from "./fetch.ts";
import { WorkerFailure } from "../program/failure.ts";
import type { BackupFacts, CheckJob, Done, ProvedSnapshot } from "../job.ts";
import { timeIn } from "./kept/object-key.ts";
import type { JobContext } from "../program/job-context.ts";
import { defined } from "../../defined.ts";

export async function check(job: CheckJob, store: ObjectStore, worker: JobContext): Promise<Done> {
  const key = await chooseKey(job.choice, store, worker);
  worker.log.info("the backup to check is chosen", { key });
  const backup = await withFetched({ ...job, key }, store, worker, async (fetched) => {
    const status = await snapshotStatus(fetched.file, worker);
    refuseNewer(job.targetVersion, status, fetched);
    const latest = await hashOfFile(fetched.file, undefined, worker);
    await compareHash(fetched, latest, worker);
    return { ...factsOf(key, fetched, status), revision: latest.revision, exactRevision: true };
  });
  return { do: "check", backup };
}

/** What is known of it: by metadata, by what was encrypted with it, and by the file. */
export function factsOf(key: string, fetched: Fetched, status: ProvedSnapshot): BackupFacts {
  const { metadata, bytes, sha256, snapshotBytes, keyId, of, modified } = fetched;
  const { formatVersion: _, run: __, cluster: ___, ...known } = metadata ?? {};
  const storageVersion = status.storageVersion ?? metadata?.storageVersion;
  return {
    // What an object without metadata cannot tell.
    takenAt: new Date(timeIn(key) ?? modified).toISOString(),
    revision: status.revision,
    exactRevision: false,
    etcdVersion: "",
    clusterId: "",
    members: 0,
    ...known,
    ...(of?.takenAt !== undefined && { takenAt: of.takenAt }),
    ...(of?.snapshotAt !== undefined && { snapshotAt: of.snapshotAt }),
    ...(of?.clusterId !== undefined && { clusterId: of.clusterId }),
    key,
    bytes,
    sha256,
    snapshotBytes,
    keys: status.keys,
    ...defined({ storageVersion, keyId }),
  };
}

/** etcd may start on data of a newer minor version, and does not know what is in it. */
export function refuseNewer(targetVersion: string, status: ProvedSnapshot, { metadata }: Fetched): void {
  const target = parseVersion(targetVersion);
  if (target === undefined)
    throw new WorkerFailure("misconfigured", `${targetVersion} is not a version of etcd, as in 3.6.16.`);
  const data = dataVersion(status.storageVersion ?? metadata?.storageVersion, metadata?.etcdVersion);
  if (data === undefined || data.major < target.major) return;
  if (data.major === target.major && data.minor <= target.minor) return;
  throw new WorkerFailure(
    "newerVersion",
    `The backup is of etcd ${minorOf(data)}, and etcd ${targetVersion} is to serve it. Restore it with ${minorOf(data)} or newer.`,
  );
}

/** Since 3.6 the data says it; in older data a server of 3.6 may have been at work beside older ones, and changed nothing. */
function dataVersion(storage: string | undefined, server: string | undefined): ReturnType<typeof parseVersion> {
  const said = storage === undefined ? undefined : parseVersion(storage);
  const ran = server === undefined ? undefined : parseVersion(server);
  if (said !== undefined || ran === undefined) return said;
  const oldest = version("3.5.0");
  return ran.minor > oldest.minor ? oldest : ran;
}

async function compareHash({ file, metadata }: Fetched, latest: FileHash, worker: JobContext): Promise<void> {
  if (metadata === undefined) return;
  const { revision } = latest;
  if (revision < metadata.revision || (metadata.exactRevision && revision !== metadata.revision))
    throw mismatch(`its revision is ${revision}, and ${metadata.revision} was recorded`);
  if (metadata.hash === undefined) return;
  const { value, revision: at, compactRevision } = metadata.hash;
  // Each hash reads the whole file.
  const found = at === revision ? latest : await hashOfFile(file, at, worker);
  if (found.compactRevision !== compactRevision)
    worker.log.info("the hash of the keys cannot be compared: etcd was compacted in between", { ...found });
  else if (found.hash !== value)
    throw mismatch(`its keys have the hash ${found.hash} at revision ${at}, and ${value} was recorded`);
}

const mismatch = (what: string): WorkerFailure =>
  new WorkerFailure("damaged", `The snapshot is not what etcd served: ${what}. Use another backup.`);
