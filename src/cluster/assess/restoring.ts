// How far the data of a cluster has been replaced by that of a backup. The annotation asks for it, and the status says how
// far it is: what has begun is finished whatever becomes of the annotation, and what is done is not done again.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { restoreRequestOf, type RestoreRequest } from "../../api/etcd-cluster/restore-annotation.ts";

export type Restoring =
  | { readonly t: "no" }
  /** Nothing has been done. */
  | ({ readonly t: "asked" } & RestoreRequest)
  /** The members that were there go; their volumes are kept. */
  | ({ readonly t: "stopping" } & RestoreRequest)
  /** They are gone, and the first member is made from the backup. */
  | ({ readonly t: "seeding" } & RestoreRequest);

export function restoringOf(cluster: CompleteEtcdCluster): Restoring {
  const { restore } = cluster.status;
  if (restore?.phase === "Stopping") return { t: "stopping", name: restore.name, uid: restore.uid };
  const asked = restoreRequestOf(cluster);
  if (asked !== undefined && asked.uid !== restore?.uid) return { t: "asked", ...asked };
  return restore?.phase === "Seeding" ? { t: "seeding", name: restore.name, uid: restore.uid } : { t: "no" };
}
