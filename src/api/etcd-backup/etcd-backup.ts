// EtcdBackup of etcd.database.coreos.com/v1beta2: its kind, its types and its defaults.
import { type Kind, type KubeObject, keyOf, type ObjectMeta } from "../../kube/objects/objects.ts";
import { complete } from "../schema/complete.ts";
import { type CompleteSpec, type EtcdBackupSpec, specSchema } from "./spec.ts";
import { type CompleteStatus, type EtcdBackupStatus, statusSchema } from "./status.ts";

export type { EtcdBackupSpec } from "./spec.ts";
export type { CompleteStatus, EtcdBackupStatus } from "./status.ts";

export interface EtcdBackup extends KubeObject {
  spec: EtcdBackupSpec;
  status?: EtcdBackupStatus;
}

export const EtcdBackup: Kind<EtcdBackup> = {
  group: "etcd.database.coreos.com",
  version: "v1beta2",
  kind: "EtcdBackup",
  plural: "etcdbackups",
  namespaced: true,
};

/** A person changes its value to have a backup taken at once. */
export const backupNowAnnotation = `${EtcdBackup.group}/backup-now`;

export interface CompleteEtcdBackup extends EtcdBackup {
  metadata: ObjectMeta & { name: string; namespace: string };
  spec: CompleteSpec;
  status: CompleteStatus;
}

export function withDefaults(backup: EtcdBackup): CompleteEtcdBackup {
  const { name, namespace } = keyOf(backup);
  return {
    ...backup,
    metadata: { ...backup.metadata, name, namespace },
    spec: complete(specSchema, backup.spec),
    status: complete(statusSchema, backup.status),
  };
}
