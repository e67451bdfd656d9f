// EtcdRestore of etcd.database.coreos.com/v1beta2: its kind, its types and its defaults.
import type { Kind, KubeObject } from "../../kube/objects/objects.ts";
import { type Completed, completed, ourKind } from "../object.ts";
import { type CompleteSpec, type EtcdRestoreSpec, specSchema } from "./spec.ts";
import { type CompleteStatus, type EtcdRestoreStatus, statusSchema } from "./status.ts";

export type { EtcdRestoreSpec } from "./spec.ts";
export type { EtcdRestoreStatus } from "./status.ts";

export interface EtcdRestore extends KubeObject {
  spec: EtcdRestoreSpec;
  status?: EtcdRestoreStatus;
}

export const EtcdRestore: Kind<EtcdRestore> = ourKind("EtcdRestore");

export type CompleteEtcdRestore = Completed<EtcdRestore, CompleteSpec, CompleteStatus>;

export const withDefaults = (restore: EtcdRestore): CompleteEtcdRestore => completed(restore, specSchema, statusSchema);
