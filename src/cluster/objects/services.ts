// The two Services of a cluster: the headless one under which members find each other before they are ready, and the
// one that clients connect to.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Service } from "../../kube/objects/kinds.ts";
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
