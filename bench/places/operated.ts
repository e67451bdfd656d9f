// The EtcdClusters that the benchmarks ask for.
import type { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import type { Key } from "../../src/kube/objects/objects.ts";

/** Ones whose images are on the lab's nodes. */
export const etcdVersion = "3.6.16";
/** One step further. */
export const nextEtcdVersion = "3.7.3";

/** The lab's disks are sparse: this costs nothing. */
export const volumeClaim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

/** Its volumes go with it. */
export function etcdClusterOnVolumes(key: Key, size: number): EtcdCluster {
  const { spec, ...cluster } = etcdCluster(key, size);
  const pod = { persistentVolumeClaimSpec: volumeClaim };
  return { ...cluster, spec: { ...spec, pod, volumeRetention: { whenClusterDeleted: "Delete" } } };
}

export function etcdCluster(key: Key, size: number): EtcdCluster {
  return { metadata: { ...key }, spec: { version: etcdVersion, size } };
}
