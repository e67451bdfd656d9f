// What a person can do about a cluster that cannot come back by itself: the backup that there is, and the command that
// restores it, ready to be typed.
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import type { ClusterWorld } from "../observe/world.ts";

export function recoveryAdvice(world: Pick<ClusterWorld, "backup" | "cluster">): string {
  const { backup, cluster } = world;
  if (backup === undefined)
    return "No EtcdBackup of this cluster has taken a backup: restore one that you have with an EtcdRestore, or delete the EtcdCluster and create a new one.";
  return `The newest backup is ${backup.path} of ${backup.takenAt}. To restore it: ${commandFor(cluster, backup.by)}`;
}

/** The same name as the cluster: so an EtcdRestore says that the data of a cluster which exists is to be replaced. */
function commandFor({ metadata: { name, namespace } }: ClusterWorld["cluster"], backup: string): string {
  const manifest = {
    apiVersion: `${EtcdRestore.group}/${EtcdRestore.version}`,
    kind: EtcdRestore.kind,
    metadata: { name, namespace },
    spec: { etcdCluster: { name }, backup: { name: backup } },
  };
  return `echo '${JSON.stringify(manifest)}' | kubectl apply -f -`;
}
