// Objects of a restore, for tests: a cluster, an EtcdBackup, an EtcdRestore, and what workers answer.
import {
  type EtcdBackup,
  type CompleteEtcdBackup,
  withDefaults as completeBackup,
} from "../../api/etcd-backup/etcd-backup.ts";
import {
  type CompleteEtcdCluster,
  type EtcdCluster,
  withDefaults as completeCluster,
} from "../../api/etcd-cluster/etcd-cluster.ts";
import { type CompleteEtcdRestore, type EtcdRestore, withDefaults } from "../../api/etcd-restore/etcd-restore.ts";
import type { BackupFacts, FailureCode, Result } from "../../worker/job.ts";

export const namespace = "n";
export const restoreUid = "11112222-3333-4444-5555-666677778888";
export const clusterUid = "aaaabbbb-cccc-dddd-eeee-ffff00001111";

export const s3 = { path: "bucket/etcd/backup", awsSecret: "aws" } as const;

/** In place, as in etcd-operator 0.9. */
export function storedRestore({ name = "demo", spec = {}, status }: Partial<Parts> = {}): EtcdRestore {
  return {
    metadata: { namespace, name, uid: restoreUid, resourceVersion: "7", generation: 1 },
    spec: {
      etcdCluster: { name: "demo" },
      ...(spec.backup === undefined && { backupStorageType: "S3", s3 }),
      ...spec,
    },
    ...(status !== undefined && { status }),
  };
}

interface Parts {
  readonly name: string;
  readonly spec: Partial<EtcdRestore["spec"]>;
  readonly status: NonNullable<EtcdRestore["status"]>;
}

export const aRestore = (parts: Partial<Parts> = {}): CompleteEtcdRestore => withDefaults(storedRestore(parts));

export function storedBackup(spec: Partial<EtcdBackup["spec"]> = {}): EtcdBackup {
  return {
    metadata: { namespace, name: "nightly", uid: "backup-uid" },
    spec: { clusterRef: { name: "demo" }, storageType: "S3", s3, ...spec },
  };
}

export const aBackup = (spec: Partial<EtcdBackup["spec"]> = {}): CompleteEtcdBackup =>
  completeBackup(storedBackup(spec));

export const endpoints = ["http://demo-a.demo.n.svc:2379"];

/** One that serves, without volumes. */
/** When the conditions last changed. */
export const lastTransitionTime = "2026-01-31T12:00:00Z";

export function storedCluster(
  spec: Partial<EtcdCluster["spec"]> = {},
  status: EtcdCluster["status"] = {},
): EtcdCluster {
  return {
    metadata: { namespace, name: "demo", uid: clusterUid, resourceVersion: "5", generation: 1 },
    spec: { size: 3, version: "3.6.16", ...spec },
    status: {
      clientEndpoints: endpoints,
      members: { ready: ["demo-a", "demo-b"], unready: ["demo-c"] },
      voters: ["demo-a", "demo-b", "demo-c"],
      clusterId: "old",
      conditions: [{ type: "Available", status: "True", reason: "Cluster available", lastTransitionTime }],
      ...status,
    },
  };
}

export const aCluster = (
  spec: Partial<EtcdCluster["spec"]> = {},
  status: EtcdCluster["status"] = {},
): CompleteEtcdCluster => completeCluster(storedCluster(spec, status));

export const facts: BackupFacts = {
  key: "etcd/backup",
  bytes: 4096,
  sha256: "5ha",
  snapshotBytes: 4096,
  takenAt: "2026-01-01T00:00:00Z",
  revision: 42,
  exactRevision: true,
  hash: { value: 7, revision: 42, compactRevision: 1 },
  etcdVersion: "3.6.16",
  storageVersion: "3.6",
  clusterId: "old",
  members: 3,
  keys: 12,
};

export const checked: Result = { ok: true, did: { do: "check", backup: facts } };

export const savedAs = (key: string): Result => ({
  ok: true,
  did: { do: "backup", backup: { ...facts, key }, durationMs: 10, deleted: 0, count: 1 },
});

export const seeded: Result = { ok: true, did: { do: "restore", backup: facts, restored: true } };

export const failure = (code: FailureCode, message = `It is ${code}.`): Result => ({ ok: false, code, message });
