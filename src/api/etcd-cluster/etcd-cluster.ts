// EtcdCluster of etcd.database.coreos.com/v1beta2: its kind, its types and its defaults.
import type { Affinity } from "kubernetes-types/core/v1.js";
import type { Kind, KubeObject } from "../../kube/objects/objects.ts";
import { type Completed, completed, ourKind } from "../object.ts";
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

export const EtcdCluster: Kind<EtcdCluster> = ourKind("EtcdCluster");

export type CompleteEtcdCluster = Completed<EtcdCluster, CompleteSpec, CompleteStatus>;

/** `made`: the versions that its pods and volumes were made in, where they are known. */
export function withDefaults(cluster: EtcdCluster, made: readonly string[] = []): CompleteEtcdCluster {
  const { spec, ...rest } = completed(cluster, specSchema, statusSchema);
  const { name } = rest.metadata;
  return {
    ...rest,
    spec: {
      ...spec,
      version: versionOf(cluster, made),
      pod: { ...spec.pod, ...spreadOverNodes(spec, name), ClusterDomain: withLeadingDot(spec.pod.ClusterDomain) },
    },
  };
}

export function imageOf(spec: Pick<CompleteSpec, "image" | "repository" | "version">): string {
  return spec.image ?? `${spec.repository}:v${plainVersion(spec.version)}`;
}

/** `v3.6.1` and `3.6.1` are one version. */
const plainVersion = (version: string): string => version.trim().replace(/^v+/, "");

const withLeadingDot = (domain: string): string => (domain === "" || domain.startsWith(".") ? domain : `.${domain}`);

/** `antiAffinity: true` as in etcd-operator 0.9: one member a node. An `affinity` that is set wins. */
function spreadOverNodes({ pod }: Pick<CompleteSpec, "pod">, cluster: string): { affinity?: Affinity } {
  if (!pod.antiAffinity || pod.affinity !== undefined) return {};
  const sameCluster = { matchLabels: { etcd_cluster: cluster } };
  const term = { labelSelector: sameCluster, topologyKey: "kubernetes.io/hostname" };
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}
