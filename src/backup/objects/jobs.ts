// The jobs that the workers of an EtcdBackup get, and what they have to mount for them.
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { secondsTime } from "../../kube/objects/objects.ts";
import type { BackupJob, DeleteJob, Retention } from "../../worker/job.ts";
import { encryptionOf, folders, type StorePlace, pathOf, placeOf } from "../../worker/mounts.ts";
import type { WorkerTask } from "../../worker/pod.ts";
import type { Reached } from "../../worker/source.ts";

/** What is backed up. */
export type Origin =
  | { readonly t: "reached"; readonly reached: Reached; readonly cluster?: CompleteEtcdCluster }
  | { readonly t: "missing" | "notServing"; readonly because: string };

/** etcd that the spec itself names. */
export function namedSource({ spec }: CompleteEtcdBackup): Reached {
  const { etcdEndpoints = [], clientTLSSecret, authSecret, allowLoginOverHTTP } = spec;
  return {
    source: {
      endpoints: etcdEndpoints,
      ...(clientTLSSecret !== undefined && { tlsFolder: folders.tls }),
      ...(authSecret !== undefined && { loginFolder: folders.login }),
      ...(allowLoginOverHTTP && { loginOverHttp: true }),
    },
    mounts: [
      ...(clientTLSSecret === undefined ? [] : [{ folder: folders.tls, secret: clientTLSSecret }]),
      ...(authSecret === undefined ? [] : [{ folder: folders.login, secret: authSecret }]),
    ],
  };
}

export function backupTask(
  backup: CompleteEtcdBackup,
  run: { readonly id: string; readonly startedAt: string },
  { reached, cluster }: Extract<Origin, { t: "reached" }>,
): WorkerTask<BackupJob> {
  const place = placeIn(backup);
  const sealed = encryptionOf(backup.spec.encryption, place);
  const retention = retentionOf(backup, place);
  return {
    job: {
      do: "backup",
      owner: ownerOf(backup),
      run: run.id,
      source: reached.source,
      store: place.target,
      key: keyFor(backup, place),
      startedAt: run.startedAt,
      ...(sealed.encryption !== undefined && { encryption: sealed.encryption }),
      ...(retention !== undefined && { retention }),
      ...releasedIn(backup),
      ...(cluster !== undefined && {
        cluster: {
          namespace: cluster.metadata.namespace,
          name: cluster.metadata.name,
          uid: cluster.metadata.uid ?? "",
        },
      }),
      stalledAfterSeconds: stalledAfter(backup),
    },
    mounts: [...place.mounts, ...sealed.mounts, ...reached.mounts],
  };
}

export function deleteTask(backup: CompleteEtcdBackup): WorkerTask<DeleteJob> {
  const place = placeIn(backup);
  return {
    job: { do: "delete", owner: ownerOf(backup), store: place.target, key: keyFor(backup, place) },
    mounts: place.mounts,
  };
}

export const placeIn = ({ spec }: CompleteEtcdBackup): StorePlace => placeOf(spec.storageType, spec);

/** The key of a path as the status has it. Undefined: it is in another place than the spec names by now. */
export function keyIn(place: StorePlace, path: string): string | undefined {
  const start = pathOf(place, "");
  return path.startsWith(start) ? path.slice(start.length) : undefined;
}

const usualTimeoutSeconds = 60;

export const stalledAfter = ({ spec }: CompleteEtcdBackup): number =>
  spec.backupPolicy.timeoutInSecond > 0 ? spec.backupPolicy.timeoutInSecond : usualTimeoutSeconds;

const ownerOf = ({ metadata: { namespace, name } }: CompleteEtcdBackup): BackupJob["owner"] => ({ namespace, name });

export const isSeries = ({ spec: { backupPolicy } }: CompleteEtcdBackup): boolean =>
  backupPolicy.backupIntervalInSecond > 0 || backupPolicy.schedule !== undefined;

const keyFor = (backup: CompleteEtcdBackup, { path }: StorePlace): BackupJob["key"] => ({
  t: isSeries(backup) ? "series" : "once",
  path,
});

function retentionOf({ spec, status }: CompleteEtcdBackup, place: StorePlace): Retention | undefined {
  const { maxBackups, maxAgeInSecond } = spec.backupPolicy;
  if (maxBackups === 0 && maxAgeInSecond === 0) return undefined;
  const verified = status.lastVerified === undefined ? undefined : keyIn(place, status.lastVerified.path);
  return { maxBackups, maxAgeSeconds: maxAgeInSecond, keep: verified === undefined ? [] : [verified] };
}

/** Older backups that a person has given up. */
function releasedIn({ spec }: CompleteEtcdBackup): Pick<BackupJob, "releasedBefore"> {
  const { releaseBefore = "" } = spec.backupPolicy;
  return releaseBefore === "" ? {} : { releasedBefore: releaseBefore };
}

/** The time of day as a status holds it. */
export const timeText = (ms: number): string => secondsTime(new Date(ms));
