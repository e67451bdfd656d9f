// The pods of a run: what their workers are told, and what they mount for it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type EtcdBackupSpec, type EtcdBackupStatus, withDefaults } from "../../api/etcd-backup/etcd-backup.ts";
import { withDefaults as clusterWithDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { type Job, jobVariable } from "../../worker/job.ts";
import { toS3 } from "../testing/stage.ts";
import { namedSource, type Origin } from "./jobs.ts";
import { podOf } from "./worker-pods.ts";

const startedAt = "2026-01-31T12:00:00Z";

function backup(spec: Partial<EtcdBackupSpec> = {}, status: EtcdBackupStatus = {}) {
  const metadata = { name: "nightly", namespace: "shop", uid: "u1", generation: 4 };
  return withDefaults({ metadata, spec: { ...toS3, ...spec }, status });
}

function madeFor(
  of: ReturnType<typeof backup>,
  step: "Backup" | "Verify" | "Delete",
  origin: Origin = { t: "reached", reached: namedSource(of) },
): Pod | undefined {
  const path = of.status.lastBackup?.path;
  const run = { id: "abcdefg", step, attempt: 2, startedAt, ...(path !== undefined && { path }) };
  return podOf({ backup: of, origin, image: "operator:1" }, run);
}

const jobIn = (pod: Pod | undefined, name = "worker"): Job => {
  const containers = [...(pod?.spec?.initContainers ?? []), ...(pod?.spec?.containers ?? [])];
  const env = containers.find((container) => container.name === name)?.env ?? [];
  return JSON.parse(env.find((variable) => variable.name === jobVariable)?.value ?? "null") as Job;
};
const secretsOf = (pod: Pod | undefined): string[] =>
  (pod?.spec?.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []);

test("a worker belongs to its EtcdBackup and is named after its run and attempt", () => {
  const { metadata } = madeFor(backup(), "Backup") ?? {};
  assert.equal(metadata?.name, "nightly-abcdefg-b2");
  assert.deepEqual(metadata?.labels, { app: "etcd-worker", etcd_backup: "nightly" });
  assert.equal(metadata?.ownerReferences?.[0]?.uid, "u1");
  assert.equal(metadata?.annotations?.["etcd.database.coreos.com/generation"], "4");
});

describe("a worker that takes a backup", () => {
  test("is told where from and where to, and mounts the Secrets for it", () => {
    const pod = madeFor(
      backup({
        clientTLSSecret: "etcd-tls",
        authSecret: "etcd-login",
        encryption: { secret: "keys", keyId: "k2" },
        backupPolicy: { backupIntervalInSecond: 60, timeoutInSecond: 300 },
      }),
      "Backup",
    );
    assert.deepEqual(jobIn(pod), {
      do: "backup",
      owner: { namespace: "shop", name: "nightly" },
      run: "abcdefg",
      source: {
        endpoints: ["http://demo-client:2379"],
        tlsFolder: "/etc/etcd-worker/tls",
        loginFolder: "/etc/etcd-worker/login",
      },
      store: {
        type: "S3",
        bucket: "bucket",
        forcePathStyle: false,
        secretFolder: "/etc/etcd-worker/store",
      },
      key: { t: "series", path: "etcd/backup" },
      startedAt,
      encryption: { folder: "/etc/etcd-worker/encryption", keyId: "k2" },
      stalledAfterSeconds: 300,
    });
    assert.deepEqual(secretsOf(pod).toSorted(), ["aws", "etcd-login", "etcd-tls", "keys"]);
  });

  test("is not made while the cluster cannot be reached", () => {
    assert.equal(madeFor(backup(), "Backup", { t: "missing", because: "it is not there" }), undefined);
  });
});

describe("a verification", () => {
  const lastBackup = { path: "bucket/etcd/backup", sha256: "ab", etcdVersion: "3.6.16" };
  const cluster = (spec: object) =>
    clusterWithDefaults({ metadata: { name: "demo", namespace: "shop" }, spec: { size: 3, ...spec } });
  const imageFor = (spec: Partial<EtcdBackupSpec>, of?: ReturnType<typeof cluster>): string | undefined => {
    const one = backup(spec, { lastBackup });
    const pod = madeFor(one, "Verify", {
      t: "reached",
      reached: namedSource(one),
      ...(of !== undefined && { cluster: of }),
    });
    return pod?.spec?.containers.find(({ name }) => name === "etcd")?.image;
  };

  test("restores exactly that object into a member that only its own pod can reach", () => {
    const pod = madeFor(
      backup({ encryption: { secret: "keys" } }, { lastBackup: { ...lastBackup, keyId: "2026" } }),
      "Verify",
    );
    assert.deepEqual(jobIn(pod, "restore"), {
      do: "restore",
      store: { type: "S3", bucket: "bucket", forcePathStyle: false, secretFolder: "/etc/etcd-worker/store" },
      key: "etcd/backup",
      sha256: "ab",
      encryption: { folder: "/etc/etcd-worker/encryption" },
      targetVersion: "3.6.16",
      member: { name: "verify", peerUrl: "http://127.0.0.1:2380" },
      token: "abcdefg",
      dataDir: "/var/etcd/data",
      bumpRevision: 0,
      stalledAfterSeconds: 60,
    });
    const verify = jobIn(pod);
    assert.ok(verify.do === "verify");
    assert.deepEqual([verify.endpoint, verify.key], ["http://127.0.0.1:2379", "etcd/backup"]);
    const etcd = pod?.spec?.containers.find(({ name }) => name === "etcd");
    const listens = etcd?.command?.filter((flag) => flag.includes("listen"));
    assert.deepEqual(listens, [
      "--listen-client-urls=http://127.0.0.1:2379",
      "--listen-peer-urls=http://127.0.0.1:2380",
    ]);
    assert.ok(etcd?.securityContext?.readOnlyRootFilesystem);
    assert.equal(pod?.spec?.restartPolicy, "Never");
  });

  test("keeps no more on its node than that object needs, or than a person allows", () => {
    const volumesOf = (spec: Partial<EtcdBackupSpec>, more: object = {}) =>
      madeFor(backup(spec, { lastBackup: { ...lastBackup, ...more } }), "Verify")
        ?.spec?.volumes?.filter(({ emptyDir }) => emptyDir)
        .map(({ name, emptyDir }) => [name, emptyDir?.sizeLimit]);
    assert.deepEqual(volumesOf({}, { sizeBytes: 500 * 2 ** 20 }), [
      ["scratch", "2024Mi"],
      ["data", "3048Mi"],
    ]);
    assert.deepEqual(volumesOf({}), [
      ["scratch", "32768Mi"],
      ["data", "33792Mi"],
    ]);
    assert.deepEqual(volumesOf({ worker: { scratchSize: "50Gi" } }), [
      ["scratch", "51200Mi"],
      ["data", "52224Mi"],
    ]);
    const pod = madeFor(backup({}, { lastBackup: { ...lastBackup, sizeBytes: 500 * 2 ** 20 } }), "Verify");
    const told = pod?.spec?.initContainers?.[0]?.env?.find(({ name }) => name === "ETCD_WORKER_SCRATCH_BYTES");
    assert.equal(told?.value, String(2024 * 2 ** 20));
  });

  test("of a backup from before encryption was turned on takes it as it is", () => {
    const pod = madeFor(backup({ encryption: { secret: "keys" } }, { lastBackup }), "Verify");
    const restore = jobIn(pod, "restore");
    assert.ok(restore.do === "restore");
    assert.deepEqual(restore.encryption, { folder: "/etc/etcd-worker/encryption", allowUnencrypted: true });
  });

  test("logs in where what was backed up asks for it", () => {
    const verify = jobIn(madeFor(backup({ authSecret: "etcd-login" }, { lastBackup }), "Verify"));
    assert.ok(verify.do === "verify");
    assert.equal(verify.loginFolder, "/etc/etcd-worker/login");
  });

  test("takes the image that is named, that of the cluster, or one of the version that was backed up", () => {
    const [ofVersion, elsewhere] = ["quay.io/coreos/etcd:v3.6.16", "registry.example/etcd"];
    assert.equal(imageFor({ verify: { image: "mine:1" } }), "mine:1");
    assert.equal(imageFor({}), ofVersion);
    assert.equal(imageFor({}, cluster({ version: "3.6.16", image: "ours:2" })), "ours:2");
    assert.equal(imageFor({}, cluster({ version: "3.7.3", image: "ours:3" })), ofVersion);
    assert.equal(imageFor({}, cluster({ version: "3.7.3", repository: elsewhere })), `${elsewhere}:v3.6.16`);
  });

  test("is not made when the spec names another place by now", () => {
    const moved = { s3: { path: "elsewhere/etcd", awsSecret: "aws" } };
    assert.equal(madeFor(backup(moved, { lastBackup }), "Verify"), undefined);
  });
});

test("a worker that deletes is told whose backups", () => {
  const job = jobIn(madeFor(backup(), "Delete"));
  assert.ok(job.do === "delete");
  assert.deepEqual(job.owner, { namespace: "shop", name: "nightly" });
  assert.deepEqual(job.key, { t: "once", path: "etcd/backup" });
});
