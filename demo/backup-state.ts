// What the demo reads in a Kubernetes about its backup: whether there is a place for it, whether it is proved, why it failed.
import type { EtcdBackup } from "../src/api/etcd-backup/etcd-backup.ts";
import type { StorageClass } from "../src/kube/objects/kinds.ts";

/** A claim that names no class gets a volume of this one. */
export const isDefault = ({ metadata }: StorageClass): boolean =>
  ["storageclass.kubernetes.io", "storageclass.beta.kubernetes.io"].some(
    (group) => metadata?.annotations?.[`${group}/is-default-class`] === "true",
  );

const verified = (backup: EtcdBackup | undefined) =>
  backup?.status?.conditions?.find(({ type }) => type === "Verified");

export const isVerified = (backup: EtcdBackup | undefined): boolean => verified(backup)?.status === "True";

/** Undefined while it can still succeed. */
export function failureOf(backup: EtcdBackup | undefined): string | undefined {
  const { failures = 0, Reason, message } = backup?.status ?? {};
  if (failures > 0) return `The backup failed: ${Reason ?? message ?? "its status does not say why"}`;
  const verdict = verified(backup);
  return verdict?.status === "False" ? `The backup could not be verified: ${verdict.message ?? ""}` : undefined;
}
