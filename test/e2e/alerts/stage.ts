// What the faults of all groups are made on: an operator, a namespace that it manages, two clusters that serve, and a
// Prometheus that scrapes them.
import type { EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { createCluster, type TestCluster } from "../support/cluster.ts";
import type { Operator } from "../support/operator.ts";
import type { Labels } from "../support/prometheus.ts";
import type { Proof } from "./proof.ts";

export interface Stage {
  readonly operator: Operator;
  /** The namespace of the clusters. */
  readonly namespace: string;
  /** Three members. */
  readonly plain: TestCluster;
  /** One member, with TLS. */
  readonly sealed: TestCluster;
  readonly proof: Proof;
}

/** The labels of alerts about a cluster. */
export const about = ({ namespace, name }: TestCluster): Labels => ({ namespace, etcd_cluster: name });

export async function memberOf(stage: Stage, name: string, spec: Omit<EtcdClusterSpec, "size">): Promise<TestCluster> {
  return createCluster({ namespace: stage.namespace, name }, { size: 1, ...spec });
}
