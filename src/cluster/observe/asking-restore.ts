// The EtcdRestore that the annotation of a cluster names, as long as the cluster has not taken it up. The annotation is a
// wish: whether it still stands is what the EtcdRestore says, read live. A cluster at rest has no such annotation.
import { isOver } from "../../restore/observe/world.ts";
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { restoreRequestOf } from "../../api/etcd-cluster/restore-annotation.ts";
import { type CompleteEtcdRestore, EtcdRestore, withDefaults } from "../../api/etcd-restore/etcd-restore.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { isForbidden } from "../../kube/client/errors.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import type { AskingRestore } from "./world.ts";

export async function askingRestore(
  cluster: CompleteEtcdCluster,
  api: KubeApi,
  signal: AbortSignal,
): Promise<AskingRestore | undefined> {
  const request = restoreRequestOf(cluster);
  if (request === undefined || request.uid === cluster.status.restore?.uid) return undefined;
  const { namespace } = cluster.metadata;
  try {
    const found = await getOrUndefined(api, EtcdRestore, { namespace, name: request.name }, { signal });
    if (found?.metadata?.uid !== request.uid) return { ...request, is: "gone" };
    return { ...request, is: isUnderWayFor(withDefaults(found), cluster) ? "underWay" : "over" };
  } catch (error) {
    if (isForbidden(error)) return { ...request, is: "unreadable" };
    throw error;
  }
}

/** It is not over, and means this very EtcdCluster: the one that it has written down, or the one that it makes. */
export function isUnderWayFor(restore: CompleteEtcdRestore, { metadata: { uid } }: CompleteEtcdCluster): boolean {
  const { clusterUid, inPlace } = restore.status;
  return !isOver(restore) && (clusterUid === undefined ? inPlace === false : clusterUid === uid);
}
