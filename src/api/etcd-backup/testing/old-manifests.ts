// EtcdBackups that users and clients of etcd-operator 0.9 send; each must be accepted as it is. They follow its
// documentation and how its Go types are serialised, with zero values, empty strings and nulls.

const head = { apiVersion: "etcd.database.coreos.com/v1beta2", kind: "EtcdBackup" };
const etcdEndpoints = ["http://example-etcd-cluster-client:2379"];
const s3 = { path: "mybucket/etcd.backup", awsSecret: "aws" };

/** What its example of one backup says. */
export const backupManifest = {
  ...head,
  metadata: { name: "example-etcd-cluster-backup" },
  spec: { etcdEndpoints, storageType: "S3", s3 },
};

/** What its example of a series says. */
export const periodicBackupManifest = {
  ...head,
  metadata: { name: "example-etcd-cluster-periodic-backup" },
  spec: {
    etcdEndpoints,
    storageType: "S3",
    backupPolicy: { backupIntervalInSecond: 125, maxBackups: 4 },
    s3,
  },
};

/** As its operator stored a backup that it had taken: the finalizer is that of a series. */
export const storedBackupManifest = {
  ...head,
  metadata: { name: "stored", finalizers: ["backup-operator-periodic"] },
  spec: { etcdEndpoints, storageType: "S3", s3: { ...s3, endpoint: "", forcePathStyle: false } },
  status: { succeeded: true, etcdVersion: "3.2.13", etcdRevision: 1, lastSuccessDate: "2018-10-01T10:00:00Z" },
};

interface Manifest {
  readonly what: string;
  readonly object: Readonly<Record<string, unknown>> & {
    readonly metadata: { readonly name: string; readonly [field: string]: unknown };
    readonly spec: object;
  };
}

const to = (what: string, name: string, spec: object): Manifest => ({
  what,
  object: { ...head, metadata: { name }, spec: { etcdEndpoints, ...spec } },
});

export const oldManifests: readonly Manifest[] = [
  { what: "the example", object: backupManifest },
  { what: "the example of a series", object: periodicBackupManifest },
  to("to another S3", "other-s3", {
    storageType: "S3",
    s3: { ...s3, endpoint: "http://minio.example.com:9000", forcePathStyle: true },
  }),
  to("to Azure", "azure", { storageType: "ABS", abs: { path: "mycontainer/etcd.backup", absSecret: "abs" } }),
  to("to Google", "google", { storageType: "GCS", gcs: { path: "mybucket/etcd.backup", gcpSecret: "gcp" } }),
  to("to Google, as the node", "google-node", { storageType: "GCS", gcs: { path: "mybucket/etcd.backup" } }),
  to("to Alibaba", "alibaba", {
    storageType: "OSS",
    oss: { path: "mybucket/etcd.backup", ossSecret: "oss", endpoint: "http://oss-cn-hangzhou.aliyuncs.com" },
  }),
  to("of a cluster with TLS", "secured", {
    etcdEndpoints: ["https://example-client.default.svc:2379"],
    storageType: "S3",
    clientTLSSecret: "etcd-client-tls",
    s3,
  }),
  {
    what: "by the Go client, with its zero values",
    object: {
      ...head,
      metadata: { name: "zeros", creationTimestamp: null },
      spec: {
        etcdEndpoints,
        storageType: "S3",
        backupPolicy: {},
        s3: { ...s3, endpoint: "", forcePathStyle: false },
        clientTLSSecret: "",
      },
      status: { succeeded: false, lastSuccessDate: null },
    },
  },
  { what: "as its operator stored it", object: storedBackupManifest },
];
