// The three programs of etcd-operator 0.9, which the image holds under these names.

export const programs = ["etcd-operator", "etcd-backup-operator", "etcd-restore-operator"] as const;
export type Program = (typeof programs)[number];

/**
 * Where each serves its endpoints unless a flag says otherwise. The ports differ because the manifests of etcd-operator 0.9
 * run the three as containers of one pod; those of the operator and of restores are the ones that they had there.
 */
export const ports: Readonly<Record<Program, number>> = {
  "etcd-operator": 8080,
  "etcd-backup-operator": 19998,
  "etcd-restore-operator": 19999,
};
