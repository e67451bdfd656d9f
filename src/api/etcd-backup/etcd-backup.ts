// EtcdBackup of etcd.database.coreos.com/v1beta2: its kind, its types and its defaults.
import type { Kind, KubeObject } from "../../kube/objects/objects.ts";
import { type Completed, completed, ourKind } from "../object.ts";
import { type CompleteSpec, type EtcdBackupSpec, specSchema } from "./spec.ts";
import { type CompleteStatus, type EtcdBackupStatus, statusSchema } from "./status.ts";

export type { EtcdBackupSpec } from "./spec.ts";
export type { CompleteStatus, EtcdBackupStatus } from "./status.ts";

export interface EtcdBackup extends KubeObject {
  spec: EtcdBackupSpec;
  status?: EtcdBackupStatus;
}

export const EtcdBackup: Kind<EtcdBackup> = ourKind("EtcdBackup");

/** A person changes its value to have a backup taken at once. */
export const backupNowAnnotation = `${EtcdBackup.group}/backup-now`;

export type CompleteEtcdBackup = Completed<EtcdBackup, CompleteSpec, CompleteStatus>;

export const withDefaults = (backup: EtcdBackup): CompleteEtcdBackup => completed(backup, specSchema, statusSchema);
