// The labels of a member's pod: the Services, the budget and our own cache select it by them. A pod that has lost them
// runs on, but its peers cannot resolve its name any more, and it looks as if it were gone.
import { controllerOf } from "../../kube/objects/owners.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { fieldManager } from "../../api/field-manager.ts";
import { labelsOf } from "./labels.ts";
import type { MemberName } from "./names.ts";

/** Compared with the name of its owner, so that the pod alone is enough. */
export function hasItsLabels(pod: Pod): boolean {
  const { app, etcd_cluster: cluster } = pod.metadata?.labels ?? {};
  return app === "etcd" && cluster === controllerOf(pod)?.name;
}

/** Acts on this very pod: with another uid the server refuses. */
export async function giveItsLabels(
  api: KubeApi,
  cluster: CompleteEtcdCluster,
  pod: { readonly name: MemberName; readonly uid: string },
): Promise<void> {
  const { name, uid } = pod;
  const labels = { ...labelsOf(cluster), etcd_node: name };
  const key = { namespace: cluster.metadata.namespace, name };
  await api.mergePatch(Pod, key, { metadata: { uid, labels } }, { fieldManager });
}
