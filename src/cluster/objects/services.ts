// The objects around the members: the headless Service under which they find each other before they are ready, the one that
// clients connect to, and the disruption budget.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { PodDisruptionBudget, Service } from "../../kube/objects/kinds.ts";
import { labelsOf, metadataOf, ports } from "./labels.ts";

const client = { name: "client", port: ports.client, targetPort: ports.client, protocol: "TCP" };
const peer = { name: "peer", port: ports.peer, targetPort: ports.peer, protocol: "TCP" };

export function peerService(cluster: CompleteEtcdCluster): Service {
  return {
    metadata: metadataOf(cluster, cluster.metadata.name),
    spec: {
      clusterIP: "None",
      // A member is looked up by its peers before it can be ready: without this, none would ever become ready.
      publishNotReadyAddresses: true,
      selector: labelsOf(cluster),
      ports: [client, peer],
    },
  };
}

export function clientServiceName(cluster: CompleteEtcdCluster): string {
  return `${cluster.metadata.name}-client`;
}

export function clientService(cluster: CompleteEtcdCluster): Service {
  return {
    metadata: metadataOf(cluster, clientServiceName(cluster)),
    spec: { selector: labelsOf(cluster), ports: [client] },
  };
}

/**
 * The disruption budget of a cluster: how many members must stay while nodes are drained. It counts ready pods, and a
 * learner is not ready, so it counts voters (etcd before 3.5.19 calls a learner ready for the moment that it is one).
 */
export function disruptionBudget(cluster: CompleteEtcdCluster, minAvailable: number): PodDisruptionBudget {
  return {
    metadata: metadataOf(cluster, cluster.metadata.name),
    spec: { minAvailable, selector: { matchLabels: labelsOf(cluster) } },
  };
}
