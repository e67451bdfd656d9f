// EtcdCluster of etcd.database.coreos.com/v1beta2: its kind and types, what it means when fields are left out, and what
// is wrong with one.
import type { Affinity } from "kubernetes-types/core/v1.js";
import { type Kind, type KubeObject, keyOf, type ObjectMeta } from "../../kube/objects/objects.ts";
import { complete } from "../schema/complete.ts";
import { type CompleteSpec, type EtcdClusterSpec, specSchema } from "./spec.ts";
import { type CompleteStatus, type EtcdClusterStatus, statusSchema } from "./status.ts";

export { problemsOf } from "./problems.ts";
export type { CompleteSpec, EtcdClusterSpec, EtcdSettings, PodPolicy, TLSPolicy } from "./spec.ts";
export type { CompleteStatus, EtcdClusterStatus } from "./status.ts";

/** As the API server holds it. Fields may also be null or of another type than here; `withDefaults` sees to that. */
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

/** With every default filled in: what the rest of the operator works with. It is an EtcdCluster, too. */
export interface CompleteEtcdCluster extends EtcdCluster {
  metadata: ObjectMeta & { name: string; namespace: string };
  spec: CompleteSpec;
  status: CompleteStatus;
}

/** The same for the same: nothing is stored, so a default can be told from a wish for good. */
export function withDefaults(cluster: EtcdCluster): CompleteEtcdCluster {
  const { name, namespace } = keyOf(cluster);
  const spec = complete(specSchema, cluster.spec);
  return {
    ...cluster,
    metadata: { ...cluster.metadata, name, namespace },
    spec: {
      ...spec,
      version: plainVersion(spec.version),
      pod: { ...spec.pod, ...spreadOverNodes(spec, name), ClusterDomain: withLeadingDot(spec.pod.ClusterDomain) },
    },
    status: complete(statusSchema, cluster.status),
  };
}

/** What the members run. */
export function imageOf(spec: Pick<CompleteSpec, "image" | "repository" | "version">): string {
  return spec.image ?? `${spec.repository}:v${plainVersion(spec.version)}`;
}

/** `v3.6.1` and `3.6.1` are one version. */
const plainVersion = (version: string): string => version.trim().replace(/^v+/, "");

const withLeadingDot = (domain: string): string => (domain === "" || domain.startsWith(".") ? domain : `.${domain}`);

/** What `antiAffinity: true` has always meant; a wish of its own in `affinity` goes before it. */
function spreadOverNodes({ pod }: CompleteSpec, cluster: string): { affinity?: Affinity } {
  if (pod.antiAffinity !== true || pod.affinity !== undefined) return {};
  const sameCluster = { matchLabels: { etcd_cluster: cluster } };
  const term = { labelSelector: sameCluster, topologyKey: "kubernetes.io/hostname" };
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}
