// Backups that fail and are overdue, that nobody has restored, that cannot be restored; and a restore that fails.
import { after, describe, test } from "node:test";
import { EtcdBackup } from "../../../src/api/etcd-backup/etcd-backup.ts";
import { EtcdRestore } from "../../../src/api/etcd-restore/etcd-restore.ts";
import { backUp, namespaced, restore, untilRefused } from "../../e2e-backup/support/objects.ts";
import { apply } from "../../support/kubectl.ts";
import { kube } from "../support/environment.ts";
import type { Stage } from "./stage.ts";

const name = "series";
const claimName = "made-later";
const unverified = "EtcdBackupUnverified";
const notRestored = "EtcdBackupVerificationFailed";

export function backupFaults(the: () => Stage): void {
  describe("a backup", { concurrency: 1 }, () => {
    const key = () => ({ namespace: the().namespace, name });
    const labels = key;
    const edit = (verify: object): Promise<unknown> => kube.mergePatch(EtcdBackup, key(), { spec: { verify } });
    after(() => kube.delete(EtcdBackup, key()));

    test("fails and is overdue while its claim is missing", async () => {
      const { proof, sealed } = the();
      await proof.silent(labels(), "EtcdBackupFailing", "EtcdBackupOld", unverified);
      const backupPolicy = { backupIntervalInSecond: 30, timeoutInSecond: 10, maxBackups: 2 };
      const pvc = { claimName, path: name };
      await backUp(key(), { clusterRef: { name: sealed.name }, storageType: "PVC", pvc, backupPolicy }, namespaced);
      await proof.fires(labels(), "EtcdBackupFailing", "EtcdBackupOld");
      await apply(claim(the().namespace));
      await proof.silent(labels(), "EtcdBackupFailing", "EtcdBackupOld");
    });

    test("is unverified until it is restored, and fails that while the member for it has no etcd", async () => {
      const { proof } = the();
      await proof.silent(labels(), notRestored);
      await proof.fires(labels(), unverified);
      await edit({ restore: true, image: "docker.io/library/busybox:1.35" });
      await proof.fires(labels(), notRestored, unverified);
      await edit({ restore: true, image: null });
      await proof.silent(labels(), notRestored, unverified);
    });

    test("that is not there cannot be restored", async () => {
      const { proof, operator, sealed } = the();
      const where = { namespace: operator.namespace };
      await proof.silent(where, "EtcdRestoreFailed");
      const pvc = { claimName, path: "nowhere" };
      await restore(sealed.key, { etcdCluster: { name: sealed.name }, backupStorageType: "PVC", pvc }, namespaced);
      await untilRefused(sealed.key);
      await proof.fires(where, "EtcdRestoreFailed");
      await kube.delete(EtcdRestore, sealed.key);
      await proof.silent(where, "EtcdRestoreFailed");
    });
  });
}

const claim = (namespace: string): object => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { namespace, name: claimName },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});
