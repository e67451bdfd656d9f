// EtcdRestores that users and clients of etcd-operator 0.9 send; each must be accepted as it is. They follow its
// documentation and how its Go types are serialised, with zero values, empty strings and nulls.

const head = { apiVersion: "etcd.database.coreos.com/v1beta2", kind: "EtcdRestore" };
const etcdCluster = { name: "example-etcd-cluster" };
const s3 = { path: "mybucket/etcd.backup", awsSecret: "aws" };

/** What its example says. */
export const restoreManifest = {
  ...head,
  metadata: { name: "example-etcd-cluster" },
  spec: { etcdCluster, backupStorageType: "S3", s3 },
};

interface Manifest {
  readonly what: string;
  readonly object: Readonly<Record<string, unknown>> & {
    readonly metadata: { readonly name: string; readonly [field: string]: unknown };
    readonly spec: object;
  };
}

const from = (what: string, name: string, spec: object): Manifest => ({
  what,
  object: { ...head, metadata: { name }, spec: { etcdCluster: { name }, ...spec } },
});

export const oldManifests: readonly Manifest[] = [
  { what: "the example", object: restoreManifest },
  from("from Azure", "azure", { backupStorageType: "ABS", abs: { path: "mycontainer/etcd.backup", absSecret: "abs" } }),
  from("from Google", "google", { backupStorageType: "GCS", gcs: { path: "mybucket/etcd.backup", gcpSecret: "gcp" } }),
  from("from Alibaba", "alibaba", {
    backupStorageType: "OSS",
    oss: { path: "mybucket/etcd.backup", ossSecret: "oss", endpoint: "http://oss-cn-hangzhou.aliyuncs.com" },
  }),
  {
    what: "by the Go client, with its zero values",
    object: {
      ...head,
      metadata: { name: "zeros", creationTimestamp: null },
      spec: {
        etcdCluster: { name: "zeros" },
        backupStorageType: "S3",
        s3: { ...s3, endpoint: "", forcePathStyle: false },
      },
      status: { succeeded: false },
    },
  },
  {
    what: "as its operator stored it",
    object: {
      ...head,
      metadata: { name: "stored" },
      spec: {
        etcdCluster: { name: "stored" },
        backupStorageType: "S3",
        s3: { ...s3, endpoint: "", forcePathStyle: false },
      },
      status: { succeeded: true },
    },
  },
];
