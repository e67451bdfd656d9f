// EtcdCluster of etcd.database.coreos.com/v1beta2: its kind, its types and its defaults.
import type { Affinity } from "kubernetes-types/core/v1.js";
import { type Kind, type KubeObject, keyOf, type ObjectMeta } from "../../kube/objects/objects.ts";
import { complete } from "../schema/complete.ts";
import { type CompleteSpec, type EtcdClusterSpec, specSchema } from "./spec.ts";
import { type CompleteStatus, type EtcdClusterStatus, statusSchema } from "./status.ts";
import { versionOf } from "./version.ts";

export { problemsOf } from "./problems.ts";
export type { CompleteSpec, EtcdClusterSpec } from "./spec.ts";
export type { CompleteStatus, EtcdClusterStatus } from "./status.ts";

/** As the API server stores it. Fields may also be null or have a wrong type; `withDefaults` deals with that. */
export interface EtcdCluster extends KubeObject {
  spec: EtcdClusterSpec;
  status?: EtcdClusterStatus;
}

export const EtcdCluster: Kind<EtcdCluster> = {
  group: "etcd.database.coreos.com",
  version: "v1beta2",
  kind: "EtcdCluster",
  plural: "etcdclusters",
  namespaced: true,
};

/** With every default filled in: what the rest of the operator works with. */
export interface CompleteEtcdCluster extends EtcdCluster {
  metadata: ObjectMeta & { name: string; namespace: string };
  spec: CompleteSpec;
  status: CompleteStatus;
}

/**
 * Pure, and never stored: the stored object keeps showing what the person wrote and what is a default. `made`: the versions
 * that its pods and volumes were made in, where they are known.
 */
export function withDefaults(cluster: EtcdCluster, made: readonly string[] = []): CompleteEtcdCluster {
  const { name, namespace } = keyOf(cluster);
  const spec: CompleteSpec = { ...complete(specSchema, cluster.spec), version: versionOf(cluster, made) };
  return {
    ...cluster,
    metadata: { ...cluster.metadata, name, namespace },
    spec: {
      ...spec,
      pod: { ...spec.pod, ...spreadOverNodes(spec, name), ClusterDomain: withLeadingDot(spec.pod.ClusterDomain) },
    },
    status: complete(statusSchema, cluster.status),
  };
}

export function imageOf(spec: Pick<CompleteSpec, "image" | "repository" | "version">): string {
  return spec.image ?? `${spec.repository}:v${plainVersion(spec.version)}`;
}

/** `v3.6.1` and `3.6.1` are one version. */
const plainVersion = (version: string): string => version.trim().replace(/^v+/, "");

const withLeadingDot = (domain: string): string => (domain === "" || domain.startsWith(".") ? domain : `.${domain}`);

/** `antiAffinity: true` as in etcd-operator 0.9: one member a node. An `affinity` that is set wins. */
function spreadOverNodes({ pod }: CompleteSpec, cluster: string): { affinity?: Affinity } {
  if (!pod.antiAffinity || pod.affinity !== undefined) return {};
  const sameCluster = { matchLabels: { etcd_cluster: cluster } };
  const term = { labelSelector: sameCluster, topologyKey: "kubernetes.io/hostname" };
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}
