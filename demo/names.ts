// What the demo applies and what it calls it: the manifests of example/, as anybody can apply them.
export const manifests = {
  cluster: "example/example-etcd-cluster-3.6.yaml",
  backup: "example/example-etcd-backup.yaml",
  restore: "example/example-etcd-restore.yaml",
} as const;

export const cluster = "my-etcd";
export const backup = "nightly";
export const claim = "etcd-backups";
/** Replaces the data of the cluster, and says so by its name. */
export const restore: string = cluster;

/** One minor after the version of the manifest. */
export const nextVersion = "3.7.3";

/** Whatever the demo creates has this field manager: that is how a later demo knows what it may delete. */
export const fieldManager = "demo";
export const applyLine = (manifest: string): string => `kubectl apply -f ${manifest} --field-manager=${fieldManager}`;
