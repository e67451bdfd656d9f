// The disruption budget of a cluster: how many members must stay while nodes are drained. It counts ready pods, and a
// learner is not ready, so it counts voters (etcd before 3.5.19 calls a learner ready for the moment that it is one).
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { PodDisruptionBudget } from "../../kube/objects/kinds.ts";
import { labelsOf, metadataOf } from "./labels.ts";

export function disruptionBudget(cluster: CompleteEtcdCluster, minAvailable: number): PodDisruptionBudget {
  return {
    metadata: metadataOf(cluster, cluster.metadata.name),
    spec: { minAvailable, selector: { matchLabels: labelsOf(cluster) } },
  };
}
