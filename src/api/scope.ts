// Whose objects an operator manages: those of some namespaces, or those that are annotated for an operator of the whole
// Kubernetes cluster. The same for all kinds.
import type { KubeObject } from "../kube/objects/objects.ts";
import { EtcdCluster } from "./etcd-cluster/etcd-cluster.ts";

/** Which namespaces' objects the operator manages. */
export type Scope = { readonly t: "clusterwide" } | { readonly t: "namespaces"; readonly names: readonly string[] };

/** `etcd.database.coreos.com/scope: clusterwide` is for an operator of the whole cluster; without it, for one of a namespace. */
export const scopeAnnotation = `${EtcdCluster.group}/scope`;

export function isInScope({ metadata }: KubeObject, { t }: Pick<Scope, "t">): boolean {
  const annotation = metadata?.annotations?.[scopeAnnotation];
  return t === "clusterwide" ? annotation === "clusterwide" : annotation === undefined;
}
