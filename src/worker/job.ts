// The job that a worker pod gets, and what it answers. The controllers write a Job into the environment of a pod and read the
// Result from its termination message; neither holds a secret: those are files in mounted folders.
import type { StoreTarget } from "../store/store.ts";

/** The variable that holds the Job, as JSON. */
export const jobVariable = "ETCD_WORKER_JOB";

/** Longer messages are cut by the kubelet, so results are kept below. */
export const longestResult = 4000;

export type Job = BackupJob | CheckJob | RestoreJob | VerifyJob | DeleteJob | AwaitNameJob;

/** Whom the objects belong to: retention touches no others. */
export interface Owner {
  readonly namespace: string;
  /** Name of the EtcdBackup. */
  readonly name: string;
}

export interface Encryption {
  /** A mounted Secret. Each entry is a key of 32 bytes, raw or in base64; its name is the key's id. */
  readonly folder: string;
  /** Which to encrypt with. Absent: the only one, or the last by name. Reading takes the one that the object names. */
  readonly keyId?: string;
  /** Reads objects that are not encrypted, too. Absent: they are refused, because anybody could have put them there. */
  readonly allowUnencrypted?: true;
  /** Objects below `path` were encrypted under `originalKey`, or under keys that began with it, and copied since. */
  readonly copied?: { readonly path: string; readonly originalKey: string };
  /** The EtcdCluster that a backup must be of where it says so itself. Absent: any. */
  readonly cluster?: { readonly namespace: string; readonly name: string };
}

/** `once`: the key is the path. `series`: `<path>_v<revision>_<UTC yyyy-MM-dd-HH:mm:ss>`. */
export interface KeyPlan {
  readonly t: "once" | "series";
  readonly path: string;
}

export interface EtcdSource {
  readonly endpoints: readonly string[];
  /** A mounted Secret: `etcd-client.crt`, `etcd-client.key`, `etcd-client-ca.crt`, or `tls.crt`, `tls.key`, `ca.crt`. */
  readonly tlsFolder?: string;
  /** A mounted Secret with `username` and `password`. */
  readonly loginFolder?: string;
  /** The owner of the EtcdBackup or of the EtcdCluster has said that the login may go over plain http. */
  readonly loginOverHttp?: boolean;
}

/** Streams a snapshot of etcd into the store. */
export interface BackupJob {
  readonly do: "backup";
  readonly owner: Owner;
  /** Tells this run from others; the same for a pod that is made again. */
  readonly run: string;
  readonly source: EtcdSource;
  readonly store: StoreTarget;
  readonly key: KeyPlan;
  /** For the key and the metadata: ISO, when the run began. */
  readonly startedAt: string;
  readonly encryption?: Encryption;
  readonly retention?: Retention;
  /** The EtcdCluster, where it is known. */
  readonly cluster?: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** ISO. A person has said that backups from before it count as part of the series, whichever cluster they are of. */
  readonly releasedBefore?: string;
  /** Give up when nothing moves for so long. */
  readonly stalledAfterSeconds: number;
}

export interface Retention {
  /** Keep at most this number; 0: any number. */
  readonly maxBackups: number;
  /** Delete what is older; 0: no limit. The newest stays, and `keep` stays. */
  readonly maxAgeSeconds: number;
  /** Keys that must stay: the one that was last verified. */
  readonly keep: readonly string[];
}

/**
 * Which object to read. `newest`: of those that `path` is the beginning of, in a series or alone. Where they are of several
 * etcd clusters none is chosen.
 */
export type Choice =
  | { readonly t: "key"; readonly key: string }
  | {
      readonly t: "newest";
      readonly path: string;
      /** ISO; only snapshots that etcd took before. */
      readonly before?: string;
      /** Only what this EtcdBackup made, and what does not say who made it. */
      readonly owner?: Owner;
      /** As in a BackupJob. */
      readonly releasedBefore?: string;
    };

/** Reads a backup, proves that it can be restored, and says what it is. Touches nothing. */
export interface CheckJob {
  readonly do: "check";
  readonly store: StoreTarget;
  readonly choice: Choice;
  readonly encryption?: Encryption;
  /** The etcd version that is to serve it, as in 3.6.16. */
  readonly targetVersion: string;
  /** What the database may have, by the quota of that etcd: the scratch volume is made for it. Absent: not known. */
  readonly expectedBytes?: number;
  readonly stalledAfterSeconds: number;
}

export interface NewMember {
  readonly name: string;
  readonly peerUrl: string;
}

/** Runs as init container of a member: makes its data from a backup, unless it is there. */
export interface RestoreJob {
  readonly do: "restore";
  readonly store: StoreTarget;
  readonly key: string;
  /** What the check found; another object under the same key is refused. */
  readonly sha256: string;
  /** What the check found in that very object. Absent: it is read once more. */
  readonly proved?: ProvedSnapshot;
  /** Its size: the scratch volume is made for it. Absent: not known. */
  readonly expectedBytes?: number;
  readonly encryption?: Encryption;
  readonly targetVersion: string;
  readonly member: NewMember;
  /**
   * All members that begin together, this one among them. Each of them is made from the same object with the same token, and
   * so they are one cluster. Absent: it is the only one.
   */
  readonly initialCluster?: readonly NewMember[];
  /** Makes another cluster id than that of the cluster which was backed up. */
  readonly token: string;
  /** Where etcd looks for its data: /var/etcd/data. */
  readonly dataDir: string;
  /** Added to the revision, and everything before is marked compacted, so that watchers notice. 0: nothing is. */
  readonly bumpRevision: number;
  readonly stalledAfterSeconds: number;
}

export interface ProvedSnapshot {
  /** The last change that is left: after a compaction etcd may have counted further. */
  readonly revision: number;
  readonly keys: number;
  /** As in `3.6.0`. Absent before 3.6. */
  readonly storageVersion?: string;
}

/**
 * Second half of a verification: an etcd container of the same pod serves what a RestoreJob has restored, at
 * `endpoint`; compares its revision and hash with what the backup says of itself.
 */
export interface VerifyJob {
  readonly do: "verify";
  readonly endpoint: string;
  readonly store: StoreTarget;
  readonly key: string;
  /** A mounted Secret with `username` and `password`, where authentication was on in the cluster that was backed up. */
  readonly loginFolder?: string;
  readonly stalledAfterSeconds: number;
}

/** Deletes what belongs to the owner, and nothing else. */
export interface DeleteJob {
  readonly do: "delete";
  readonly owner: Owner;
  readonly store: StoreTarget;
  readonly key: KeyPlan;
}

/** The variable that holds the address of the pod, for an AwaitNameJob. */
export const addressVariable = "ETCD_WORKER_ADDRESS";

/**
 * Runs as init container of a member that joins: waits until DNS has its name, and its address under that name. Its peers
 * ask for that, and one that they refuse exits. A deadline that passes is no failure: etcd tries all the same.
 */
export interface AwaitNameJob {
  readonly do: "awaitName";
  /** The host name of the member, as in `example-1.example.default.svc`, with or without the domain of the Kubernetes cluster. */
  readonly host: string;
  readonly withinSeconds: number;
}

export type Result =
  | { readonly ok: true; readonly did: Done }
  | { readonly ok: false; readonly code: FailureCode; readonly message: string };

/** `store`, `etcd`: they refused or did not answer. The others are about the backup itself. */
export type FailureCode =
  | "store"
  | "etcd"
  | "notFound"
  | "damaged"
  | "tampered"
  | "wrongKey"
  | "keyMissing"
  | "newerVersion"
  | "dataExists"
  | "stalled"
  | "misconfigured"
  | "failed";

export type Done =
  | BackupDone
  | { readonly do: "check"; readonly backup: BackupFacts }
  | { readonly do: "restore"; readonly restored: true; readonly backup: BackupFacts }
  /** The data was there, and the store was not asked. */
  | { readonly do: "restore"; readonly restored: false }
  | { readonly do: "verify"; readonly revision: number; readonly hash?: number; readonly comparedHash: boolean }
  | { readonly do: "delete"; readonly deleted: number; readonly locked: number }
  | { readonly do: "awaitName"; readonly found: boolean; readonly waitedMs: number; readonly lastSeen: string };

export interface BackupDone {
  readonly do: "backup";
  readonly backup: BackupFacts;
  readonly durationMs: number;
  readonly deleted: number;
  /** What the store would not delete. */
  readonly kept?: string;
  /** Why nothing may be deleted until a person has decided, and what to do. */
  readonly held?: string;
  /** Objects of the series that are left. */
  readonly count: number;
}

/** What is known of a backup; stored beside it as `<key>.json`. */
export interface BackupFacts {
  readonly key: string;
  /** Size of the object as it is stored. */
  readonly bytes: number;
  /** Digest of the object as it is stored. */
  readonly sha256: string;
  /** Size of the snapshot inside, where it is encrypted. */
  readonly snapshotBytes: number;
  /** When the run began; the key has it, too. */
  readonly takenAt: string;
  /**
   * When etcd had taken the snapshot, at the latest: by the worker's clock when the first bytes had come, or by the operator's
   * when the run began. Absent in backups of earlier releases.
   */
  readonly snapshotAt?: string;
  /** Whether the member could read through a quorum before, and so had everything. Absent: as above. */
  readonly current?: boolean;
  /** Everything up to it is in the snapshot; exact where `exactRevision` says so. */
  readonly revision: number;
  readonly exactRevision: boolean;
  /** HashKV at `revision`; absent where etcd has none (3.2). */
  readonly hash?: { readonly value: number; readonly revision: number; readonly compactRevision: number };
  readonly etcdVersion: string;
  /** Since 3.6. */
  readonly storageVersion?: string;
  readonly clusterId: string;
  readonly members: number;
  /** Whether etcd's own authentication was on; absent: not known. */
  readonly auth?: boolean;
  readonly keyId?: string;
  readonly owner?: Owner;
  readonly keys?: number;
}
