// The ways out of a deletion that cannot be completed. A person can let the EtcdBackup go at any time; after an hour, or when
// its namespace is being deleted, it goes by itself. Both only leave objects in the store, so neither can lose data.
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { timeText } from "../objects/jobs.ts";
import type { Note } from "../../controllers/event.ts";

/** From the deletion on: long enough for a store to come back, or for somebody to restore a Secret. */
const patienceMs = 3_600_000;

/** The time of day after which a deletion that is held up is given up. */
export const givenUpAt = ({ metadata: { deletionTimestamp = "" } }: CompleteEtcdBackup): number =>
  (Date.parse(deletionTimestamp) || 0) + patienceMs;

/** For a status: it stays the same while nothing changes. */
export function wayOut(backup: CompleteEtcdBackup): string {
  const { name, namespace } = backup.metadata;
  const command = `kubectl patch etcdbackup ${name} -n ${namespace} --type=merge -p '{"spec":{"deletionPolicy":"Retain"}}'`;
  return `To keep the backups and let this EtcdBackup go now, run \`${command}\`. Otherwise the operator keeps trying until ${timeText(givenUpAt(backup))}, then lets it go and leaves the backups in the store.`;
}

export const namespaceGoes = ({ metadata: { namespace } }: CompleteEtcdBackup): string =>
  `The namespace ${namespace} is being deleted, so no worker pod can be created in it.`;

/** In a namespace that is being deleted no Event can be created either: the log has the same words. */
export const leftBehind = (backup: CompleteEtcdBackup, because: string): Note => [
  "backupsLeftBehind",
  // An Event has room for 1024 characters, and what is left behind is what a person needs most.
  `The backups were not deleted and stay in the store: ${objectsOf(backup).join(", ")}. Delete them there if they are no longer needed. ${because}`,
];

/** As `path` of an EtcdRestore takes them. The store may have older ones of the series, which only a worker could list. */
function objectsOf({ spec, status }: CompleteEtcdBackup): readonly string[] {
  const { lastBackup, history } = status;
  const known = [lastBackup?.path, ...history.map(({ path }) => path)].filter((path) => path !== undefined);
  const { s3, abs, gcs, oss, pvc } = spec;
  const place = { S3: s3?.path, ABS: abs?.path, GCS: gcs?.path, OSS: oss?.path, PVC: pvc?.path }[spec.storageType];
  const all = place === undefined || known.includes(place) ? [] : [`everything that begins with ${place}`];
  return [...all, ...new Set(known)];
}
