// Which operator an object is for, where operators of the whole Kubernetes cluster and of single namespaces run side by side.
import type { KubeObject } from "../kube/objects/objects.ts";
import { EtcdCluster } from "./etcd-cluster/etcd-cluster.ts";

/** `etcd.database.coreos.com/scope: clusterwide` is for an operator of the whole cluster; without it, for one of a namespace. */
export const scopeAnnotation = `${EtcdCluster.group}/scope`;

export function isInScope(object: KubeObject, scope: "clusterwide" | "namespaces"): boolean {
  const annotation = object.metadata?.annotations?.[scopeAnnotation];
  return scope === "clusterwide" ? annotation === "clusterwide" : annotation === undefined;
}
