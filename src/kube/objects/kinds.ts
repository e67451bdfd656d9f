// The built-in kinds that the operator reads or writes. Their object types are erased at run time; only these small
// descriptions remain.
import type * as apps from "kubernetes-types/apps/v1.js";
import type * as coordination from "kubernetes-types/coordination/v1.js";
import type * as core from "kubernetes-types/core/v1.js";
import type * as events from "kubernetes-types/events/v1.js";
import type * as policy from "kubernetes-types/policy/v1.js";
import type * as storage from "kubernetes-types/storage/v1.js";
import type { Kind, KubeObject } from "./objects.ts";

const kindOf = <T extends KubeObject>(group: string, kind: string, namespaced: boolean): Kind<T> => {
  const lower = kind.toLowerCase();
  return { group, version: "v1", kind, plural: lower.endsWith("s") ? `${lower}es` : `${lower}s`, namespaced };
};

const namespaced = <T extends KubeObject>(group: string, kind: string): Kind<T> => kindOf(group, kind, true);
const clusterScoped = <T extends KubeObject>(group: string, kind: string): Kind<T> => kindOf(group, kind, false);

export type Pod = core.Pod;
export const Pod: Kind<Pod> = namespaced("", "Pod");

export type Service = core.Service;
export const Service: Kind<Service> = namespaced("", "Service");

export type Secret = core.Secret;
export const Secret: Kind<Secret> = namespaced("", "Secret");

export type ConfigMap = core.ConfigMap;
export const ConfigMap: Kind<ConfigMap> = namespaced("", "ConfigMap");

export type ServiceAccount = core.ServiceAccount;
export const ServiceAccount: Kind<ServiceAccount> = namespaced("", "ServiceAccount");

export type PersistentVolumeClaim = core.PersistentVolumeClaim;
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim> = namespaced("", "PersistentVolumeClaim");

export type PersistentVolume = core.PersistentVolume;
export const PersistentVolume: Kind<PersistentVolume> = clusterScoped("", "PersistentVolume");

export type Node = core.Node;
export const Node: Kind<Node> = clusterScoped("", "Node");

export type Namespace = core.Namespace;
export const Namespace: Kind<Namespace> = clusterScoped("", "Namespace");

export type Event = events.Event;
export const Event: Kind<Event> = namespaced("events.k8s.io", "Event");

export type Lease = coordination.Lease;
export const Lease: Kind<Lease> = namespaced("coordination.k8s.io", "Lease");

export type PodDisruptionBudget = policy.PodDisruptionBudget;
export const PodDisruptionBudget: Kind<PodDisruptionBudget> = namespaced("policy", "PodDisruptionBudget");

export type Deployment = apps.Deployment;
export const Deployment: Kind<Deployment> = namespaced("apps", "Deployment");

export type StorageClass = storage.StorageClass;
export const StorageClass: Kind<StorageClass> = clusterScoped("storage.k8s.io", "StorageClass");

/** No more than is needed to apply a CRD and to see it accepted; the schemas are built elsewhere. */
export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string;
    scope: "Namespaced" | "Cluster";
    names: { kind: string; plural: string; singular?: string; shortNames?: string[]; categories?: string[] };
    versions: { name: string; served: boolean; storage: boolean; schema?: object }[];
  };
  status?: { conditions?: { type: string; status: string; reason?: string; message?: string }[] };
}
export const CustomResourceDefinition: Kind<CustomResourceDefinition> = clusterScoped(
  "apiextensions.k8s.io",
  "CustomResourceDefinition",
);
