// The built-in kinds that the operator reads or writes. Their object types are erased at run time; only these small
// descriptions remain.
import type { Deployment as DeploymentObject } from "kubernetes-types/apps/v1.js";
import type { Lease as LeaseObject } from "kubernetes-types/coordination/v1.js";
import type {
  ConfigMap as ConfigMapObject,
  Namespace as NamespaceObject,
  Node as NodeObject,
  PersistentVolumeClaim as PersistentVolumeClaimObject,
  PersistentVolume as PersistentVolumeObject,
  Pod as PodObject,
  Secret as SecretObject,
  ServiceAccount as ServiceAccountObject,
  Service as ServiceObject,
} from "kubernetes-types/core/v1.js";
import type { Event as EventObject } from "kubernetes-types/events/v1.js";
import type { PodDisruptionBudget as PodDisruptionBudgetObject } from "kubernetes-types/policy/v1.js";
import type { StorageClass as StorageClassObject } from "kubernetes-types/storage/v1.js";
import type { Kind, KubeObject } from "./objects.ts";

function namespaced<T extends KubeObject>(group: string, kind: string, plural: string): Kind<T> {
  return { group, version: "v1", kind, plural, namespaced: true };
}

function clusterScoped<T extends KubeObject>(group: string, kind: string, plural: string): Kind<T> {
  return { group, version: "v1", kind, plural, namespaced: false };
}

export type Pod = PodObject;
export const Pod: Kind<Pod> = namespaced("", "Pod", "pods");

export type Service = ServiceObject;
export const Service: Kind<Service> = namespaced("", "Service", "services");

export type Secret = SecretObject;
export const Secret: Kind<Secret> = namespaced("", "Secret", "secrets");

export type ConfigMap = ConfigMapObject;
export const ConfigMap: Kind<ConfigMap> = namespaced("", "ConfigMap", "configmaps");

export type ServiceAccount = ServiceAccountObject;
export const ServiceAccount: Kind<ServiceAccount> = namespaced("", "ServiceAccount", "serviceaccounts");

export type PersistentVolumeClaim = PersistentVolumeClaimObject;
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim> = namespaced(
  "",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);

export type PersistentVolume = PersistentVolumeObject;
export const PersistentVolume: Kind<PersistentVolume> = clusterScoped("", "PersistentVolume", "persistentvolumes");

export type Node = NodeObject;
export const Node: Kind<Node> = clusterScoped("", "Node", "nodes");

export type Namespace = NamespaceObject;
export const Namespace: Kind<Namespace> = clusterScoped("", "Namespace", "namespaces");

export type Event = EventObject;
export const Event: Kind<Event> = namespaced("events.k8s.io", "Event", "events");

export type Lease = LeaseObject;
export const Lease: Kind<Lease> = namespaced("coordination.k8s.io", "Lease", "leases");

export type PodDisruptionBudget = PodDisruptionBudgetObject;
export const PodDisruptionBudget: Kind<PodDisruptionBudget> = namespaced(
  "policy",
  "PodDisruptionBudget",
  "poddisruptionbudgets",
);

export type Deployment = DeploymentObject;
export const Deployment: Kind<Deployment> = namespaced("apps", "Deployment", "deployments");

export type StorageClass = StorageClassObject;
export const StorageClass: Kind<StorageClass> = clusterScoped("storage.k8s.io", "StorageClass", "storageclasses");

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
  "customresourcedefinitions",
);
