// The newest backup of a cluster, as its EtcdBackups know it.
import type { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import type { LastBackup } from "./world.ts";

export function lastBackupOf(backups: readonly EtcdBackup[]): LastBackup | undefined {
  const taken = backups.flatMap(({ metadata, status }): LastBackup[] => {
    const { path = "", takenAt } = status?.lastBackup ?? {};
    return path === "" || takenAt === undefined ? [] : [{ by: metadata?.name ?? "", path, takenAt }];
  });
  return taken.toSorted((a, b) => Date.parse(b.takenAt) - Date.parse(a.takenAt))[0];
}
