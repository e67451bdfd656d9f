// The EtcdClusters that the benchmarks ask for.
import type { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import type { Key } from "../../src/kube/objects/objects.ts";

/** Ones whose images are on the lab's nodes. */
export const etcdVersion = "3.6.16";
/** One step further. */
export const nextEtcdVersion = "3.7.3";

export function etcdCluster(key: Key, size: number): EtcdCluster {
  return { metadata: { ...key }, spec: { version: etcdVersion, size } };
}
