// EtcdBackups and EtcdRestores with a mistake in them, the sentence about it, and who says it.

interface BadObject {
  readonly what: string;
  readonly name?: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** What is said about it. */
  readonly says: string;
  /** `server`: the API server refuses it in these words. `operator`: it cannot see it, and the status says it. */
  readonly by: "server" | "operator";
}

const s3 = { path: "bucket/key", awsSecret: "aws" };
const etcdEndpoints = ["http://example-client:2379"];
const store = { storageType: "S3", s3 } as const;
const good = { etcdEndpoints, ...store };

const backup = (what: string, spec: object, says: string, by: BadObject["by"] = "server"): BadObject => ({
  what,
  spec: { ...good, ...spec },
  says,
  by,
});

export const badBackups: readonly BadObject[] = [
  { what: "no etcd", spec: store, says: "spec.etcdEndpoints must not be empty", by: "server" },
  backup("no endpoint", { etcdEndpoints: [] }, "spec.etcdEndpoints must not be empty"),
  backup(
    "endpoints and a cluster",
    { clusterRef: { name: "c" } },
    "spec.etcdEndpoints and spec.clusterRef are mutually exclusive",
  ),
  backup("an endpoint without a scheme", { etcdEndpoints: ["c-client:2379"] }, "must contain client URLs of etcd"),
  { what: "no store", spec: { etcdEndpoints, storageType: "GCS" }, says: "spec.gcs is missing", by: "server" },
  {
    what: "another store than it names",
    spec: { ...good, storageType: "ABS" },
    says: "spec.abs is missing",
    by: "server",
  },
  backup(
    "a path without a key",
    { s3: { ...s3, path: "bucket" } },
    "spec.s3.path must be the bucket, a slash and the key",
  ),
  backup(
    "a path without a bucket",
    { s3: { ...s3, path: "/bucket/key" } },
    "spec.s3.path must be the bucket, a slash and the key",
  ),
  backup(
    "a path whose key begins with a slash",
    { s3: { ...s3, path: "bucket//key" } },
    "spec.s3.path must be the bucket, a slash and the key",
  ),
  backup("a path that leaves its folder", { s3: { ...s3, path: "b/../x" } }, "must not contain . or ..", "operator"),
  backup(
    "an endpoint with a password in it",
    { s3: { ...s3, endpoint: "https://a:b@host" } },
    "without user and password",
  ),
  backup(
    "an endpoint that is not of AWS, and no credentials for it",
    { s3: { path: s3.path, endpoint: "https://collector.example.com" } },
    "spec.s3.endpoint needs spec.s3.awsSecret: an identity of AWS is sent only to",
  ),
  backup(
    "an endpoint of AWS without TLS, and no credentials for it",
    { s3: { path: s3.path, endpoint: "http://s3.amazonaws.com", awsSecret: "" } },
    "spec.s3.endpoint needs spec.s3.awsSecret",
  ),
  backup(
    "an endpoint that only looks like AWS",
    { s3: { path: s3.path, endpoint: "https://example.com\\.s3.amazonaws.com" } },
    "spec.s3.endpoint needs spec.s3.awsSecret",
  ),
  backup(
    "a region that ends the name of the host",
    { s3: { ...s3, region: "example.com/" } },
    "spec.s3.region must be the name of a region",
  ),
  backup(
    "an endpoint that is not of Azure, and no credentials for it",
    { storageType: "ABS", abs: { path: "c/key", account: "acc", endpoint: "https://collector.example.com" } },
    "spec.abs.endpoint needs spec.abs.absSecret: an identity of Azure is sent only to",
  ),
  backup(
    "an account that ends the name of the host",
    { storageType: "ABS", abs: { path: "c/key", account: "example.com/" } },
    "spec.abs.account must be the name of a storage account",
  ),
  backup(
    "an access token over plain http",
    { storageType: "GCS", gcs: { path: "b/key", gcpSecret: "gcp", endpoint: "http://storage.example.com" } },
    "spec.gcs.endpoint with spec.gcs.gcpSecret: a token is not sent over plain http",
  ),
  backup(
    "a login over plain http",
    { authSecret: "login" },
    "spec.etcdEndpoints with spec.authSecret: a login is not sent over plain http",
  ),
  backup(
    "a login over plain http to one of several",
    { authSecret: "login", etcdEndpoints: ["https://a:2379", ...etcdEndpoints], allowLoginOverHTTP: false },
    "spec.etcdEndpoints with spec.authSecret",
  ),
  backup(
    "a Secret of another namespace",
    { s3: { ...s3, awsSecret: "ns/aws" } },
    "spec.s3.awsSecret must be the name of a Secret",
  ),
  backup("a negative interval", { backupPolicy: { backupIntervalInSecond: -1 } }, "must be at least 0"),
  backup("a negative count", { backupPolicy: { maxBackups: -1 } }, "spec.backupPolicy.maxBackups must be at least 0"),
  backup(
    "an interval and a schedule",
    { backupPolicy: { backupIntervalInSecond: 60, schedule: "@daily" } },
    "are mutually exclusive",
  ),
  backup(
    "a zone without a schedule",
    { backupPolicy: { timeZone: "UTC" } },
    "spec.backupPolicy.timeZone has no effect",
  ),
  backup("a schedule of six fields", { backupPolicy: { schedule: "0 0 3 * * *" } }, "not a Cron schedule", "operator"),
  backup("a schedule that never comes", { backupPolicy: { schedule: "0 0 30 2 *" } }, "which never occurs", "operator"),
  backup(
    "a zone that is none",
    { backupPolicy: { schedule: "@daily", timeZone: "Mars/Olympus" } },
    "which is not a time zone",
    "operator",
  ),
  { ...backup("a name that is too long", {}, "metadata.name must not be longer than 50"), name: "n".repeat(51) },
];

const etcdCluster = { name: "example" };
const from = { etcdCluster, backupStorageType: "S3", s3 } as const;

const restore = (what: string, spec: object, says: string): BadObject => ({
  what,
  spec: { ...from, ...spec },
  says,
  by: "server",
});

export const badRestores: readonly BadObject[] = [
  { what: "no backup", spec: { etcdCluster }, says: "spec.backupStorageType is missing", by: "server" },
  restore("two backups", { backup: { name: "b" } }, "spec.backup and spec.backupStorageType are mutually exclusive"),
  { what: "no store", spec: { etcdCluster, backupStorageType: "OSS" }, says: "spec.oss is missing", by: "server" },
  restore(
    "an endpoint that is not of AWS, and no credentials for it",
    { s3: { path: s3.path, endpoint: "https://collector.example.com" } },
    "spec.s3.endpoint needs spec.s3.awsSecret",
  ),
  restore("a time that is none", { before: "yesterday" }, "spec.before must be a time, for example"),
  restore("a cluster of another namespace", { etcdCluster: { name: "ns/c" } }, "must be the name of an EtcdCluster"),
  restore("a new cluster without a size that works", { clusterSpec: { size: 0 } }, "spec.size must be from 1 to 9"),
  { ...restore("a name that is too long", {}, "metadata.name must not be longer than 52"), name: "n".repeat(53) },
];
