// The kinds of which an operator keeps a cache, and old views of them.
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { Node, PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "../../kube/objects/kinds.ts";
import type { Kind, KubeObject } from "../../kube/objects/objects.ts";
import type { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";

const kinds = {
  pods: Pod,
  clusters: EtcdCluster,
  claims: PersistentVolumeClaim,
  secrets: Secret,
  services: Service,
  budgets: PodDisruptionBudget,
  restores: EtcdRestore,
  backups: EtcdBackup,
  nodes: Node,
} as const satisfies Record<string, Kind<KubeObject>>;

export type Cached = keyof typeof kinds;

export const cached: readonly Cached[] = [
  "pods",
  "clusters",
  "claims",
  "secrets",
  "services",
  "budgets",
  "restores",
  "backups",
  "nodes",
];

/** Caches hear nothing more of it, until the answer is called. */
export function deafTo(api: FakeApi, what: Cached): () => void {
  return api.faults.holdWatches({ verb: "watch", kind: kinds[what] });
}

/** Caches that begin from now on see what there is of it now, whatever is written, until the answer is called. */
export function showThePast(api: FakeApi, what: Cached): () => void {
  return api.faults.showThePast({ verb: "list", kind: kinds[what], paged: true });
}
