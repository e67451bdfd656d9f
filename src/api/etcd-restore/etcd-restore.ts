// EtcdRestore of etcd.database.coreos.com/v1beta2: its kind, its types and its defaults.
import { type Kind, type KubeObject, keyOf, type ObjectMeta } from "../../kube/objects/objects.ts";
import { complete } from "../schema/complete.ts";
import { type CompleteSpec, type EtcdRestoreSpec, specSchema } from "./spec.ts";
import { type CompleteStatus, type EtcdRestoreStatus, statusSchema } from "./status.ts";

export type { EtcdRestoreSpec } from "./spec.ts";
export type { EtcdRestoreStatus } from "./status.ts";

export interface EtcdRestore extends KubeObject {
  spec: EtcdRestoreSpec;
  status?: EtcdRestoreStatus;
}

export const EtcdRestore: Kind<EtcdRestore> = {
  group: "etcd.database.coreos.com",
  version: "v1beta2",
  kind: "EtcdRestore",
  plural: "etcdrestores",
  namespaced: true,
};

export interface CompleteEtcdRestore extends EtcdRestore {
  metadata: ObjectMeta & { name: string; namespace: string };
  spec: CompleteSpec;
  status: CompleteStatus;
}

export function withDefaults(restore: EtcdRestore): CompleteEtcdRestore {
  const { name, namespace } = keyOf(restore);
  return {
    ...restore,
    metadata: { ...restore.metadata, name, namespace },
    spec: complete(specSchema, restore.spec),
    status: complete(statusSchema, restore.status),
  };
}
