// Data in, backup, cluster destroyed, restore: what was written before the backup is there, as it was, and nobody who
// watched the old cluster is left believing in what came after.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EtcdBackupSpec } from "../../../src/api/etcd-backup/etcd-backup.ts";
import type { EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { restoreAnnotation } from "../../../src/api/etcd-cluster/restore-annotation.ts";
import { EtcdError } from "../../../src/etcd/errors.ts";
import { Login } from "../../../src/etcd/login.ts";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import { PersistentVolumeClaim, Pod, Secret } from "../../../src/kube/objects/kinds.ts";
import type { Key, Kind, KubeObject } from "../../../src/kube/objects/objects.ts";
import { run } from "../../../lab/machine/command.ts";
import { enableAuth, giveLogin } from "../../e2e/support/auth.ts";
import { clusterwide, createCluster, type TestCluster } from "../../e2e/support/cluster.ts";
import { kube, patiently, restrictedNamespace } from "../../e2e/support/environment.ts";
import { memberAt } from "../../e2e/support/healthy.ts";
import { type Lane, laneOf } from "../../e2e/support/lane.ts";
import { conditionOf } from "../../e2e/support/status.ts";
import { GivenSecrets, operatorSecret, peerSecret, serverSecret } from "../../e2e-tls/given-secrets.ts";
import { onVolumes } from "../../e2e-volumes/support/volumes.ts";
import { type Row, rowsOf } from "../../support/matrix.ts";
import type { Bucket } from "../support/bucket.ts";
import { backUp, untilBackedUp, untilRestored } from "../support/objects.ts";

interface Sort extends Row {
  readonly name: string;
  readonly spec: Partial<EtcdClusterSpec>;
  readonly backup?: Partial<EtcdBackupSpec>;
  /** The login of the test, where etcd asks for one. */
  readonly login?: Login;
  /** What has to be there before the cluster is. */
  readonly prepare?: (cluster: Key) => Promise<unknown>;
  /** What is done to it when it serves. */
  readonly whenServing?: (lane: Lane) => Promise<unknown>;
}

const sealed = { encryption: { secret: "keys" } };
const operatorLogin = new Login("root", "of-the-operator");
const verified = { verify: { restore: true } };

/** Authentication is part of the data: it is on in the restored cluster, too. */
const withAuth = {
  spec: { auth: { operatorSecret: "operator-login" } },
  login: new Login("test", "of-the-test"),
  prepare: ({ namespace }) => giveLogin(namespace, "operator-login", operatorLogin),
  whenServing: ({ cluster, first }) => enableAuth(first, cluster, operatorLogin),
} satisfies Partial<Sort>;

const withGivenTls = {
  // One member: with given certificates each further one waits half a minute for DNS.
  spec: { size: 1, TLS: { static: { member: { peerSecret, serverSecret }, operatorSecret } } },
  prepare: async (key) => (await GivenSecrets.for(key)).renew(peerSecret, serverSecret, operatorSecret),
} satisfies Partial<Sort>;

const sorts: readonly Sort[] = [
  { name: "3-2-13", spec: { version: "3.2.13" }, onlyInMatrix: true },
  { name: "3-4-23", spec: { version: "3.4.23" }, backup: verified, onlyInMatrix: true },
  { name: "3-5-35", spec: { version: "3.5.35" }, backup: sealed, onlyInMatrix: true },
  { name: "3-6-16-tls-sealed", spec: { TLS: { auto: true } }, backup: { ...sealed, ...verified } },
  { name: "3-7-3-volumes", spec: { version: "3.7.3", pod: onVolumes() }, backup: verified },
  { name: "3-7-3-tls", spec: { version: "3.7.3", TLS: { auto: true } }, backup: sealed, onlyInMatrix: true },
  { name: "3-6-16-auth", ...withAuth, backup: verified, onlyInMatrix: true },
  { name: "3-6-16-given-tls", ...withGivenTls, backup: verified, onlyInMatrix: true },
];

export function roundTrip(bucket: () => Bucket): void {
  for (const { name: sort, spec, backup = {}, ...more } of rowsOf(sorts))
    describe(`a cluster that is lost (${sort})`, { concurrency: 1 }, () => {
      const on = laneOf(`lost-${sort}`, async () => {
        const name = `lost-${sort}`;
        const namespace = await restrictedNamespace(name);
        await bucket().open(namespace);
        await kube.create(Secret, { metadata: { namespace, name: "keys" }, stringData: { "2026-1": "k".repeat(32) } });
        await more.prepare?.({ namespace, name });
        const options = { ...clusterwide, ...(more.login && { login: more.login }) };
        return createCluster({ namespace, name }, { size: 3, ...spec }, options);
      });

      test("says which backup there is and what to type, and that brings back all that was written before it", async () => {
        const { cluster, writer, first } = on();
        const { namespace } = cluster;
        const key = { namespace, name: "saved" };
        await more.whenServing?.(on());
        await writer.progress(30);
        const written = writer.soFar();
        const store = { storageType: "S3", s3: bucket().at(`${namespace}/saved`) } as const;
        await backUp(key, { clusterRef: { name: cluster.name }, ...store, ...backup });
        const { status } = await untilBackedUp(key);
        assert.ok((status?.etcdRevision ?? 0) >= written.size);
        if (backup.verify?.restore === true) assert.equal(status?.lastVerified?.path, status?.lastBackup?.path);
        assert.equal(await isReadable(bucket(), `${namespace}/saved`, writer.prefix), backup.encryption === undefined);
        await writer.progress(20);
        const revision = (await cluster.get()).status?.revision ?? 0;
        await destroy(cluster);
        await writer.stop();
        const lost = await cluster.until("to say that its data is lost", (seen) => isLost(seen));
        const command = /echo '(?<manifest>.*)' \| kubectl apply -f -/.exec(adviceIn(lost))?.groups?.["manifest"] ?? "";
        const manifest: object = JSON.parse(command);
        const annotated = withScope(manifest);
        await run("kubectl", ["apply", "--filename=-"], { input: JSON.stringify(annotated) });
        const restored = await untilRestored(cluster.key);
        const after = await cluster.untilHealthy();
        await cluster.until("to carry no request any more", ({ metadata }) => !hasRequest(metadata?.annotations));
        assert.notEqual(after.clusterId, first.clusterId);
        assert.equal(restored.status?.clusterId, after.clusterId);
        assert.deepEqual(await writer.missing(written), []);
        await watchersNotice(cluster, revision);
      });
    });
}

const hasRequest = (annotations: Readonly<Record<string, string>> = {}): boolean => restoreAnnotation in annotations;

const conditionText = (cluster: Awaited<ReturnType<TestCluster["get"]>>): string =>
  conditionOf(cluster, "Available")?.message ?? "";
const adviceIn = conditionText;
const isLost = (cluster: Awaited<ReturnType<TestCluster["get"]>>): boolean =>
  conditionOf(cluster, "Available")?.reason === "DataLost" ||
  (conditionOf(cluster, "Available")?.reason === "QuorumLost" && conditionText(cluster).includes("newest backup"));

/** The operator of this suite manages what is annotated for it. */
function withScope(manifest: object & { metadata?: object }): object {
  const annotations = { "etcd.database.coreos.com/scope": "clusterwide" };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

/**
 * Every pod, and where there are volumes the claims, too. All at once: kubectl deletes one after another, and the operator could
 * replace the first before the last is deleted.
 */
async function destroy({ namespace, name }: TestCluster): Promise<void> {
  const labelSelector = `etcd_cluster=${name}`;
  const kinds: readonly Kind<KubeObject>[] = [PersistentVolumeClaim, Pod];
  const listed = kinds.map(async (kind) => {
    const { items } = await kube.list(kind, { namespace, labelSelector });
    return items.map(({ metadata }) => ({ kind, name: metadata?.name ?? "" }));
  });
  const all = (await Promise.all(listed)).flat();
  const unlessGone = (error: unknown): void => {
    if (!isNotFound(error)) throw error;
  };
  await Promise.all(
    all.map(({ kind, name }) => kube.delete(kind, { namespace, name }, { gracePeriodSeconds: 0 }).catch(unlessGone)),
  );
}

/** Revisions go on where nobody has been, and what was before is gone: a watch from there is cancelled as compacted. */
async function watchersNotice(cluster: TestCluster, seen: number): Promise<void> {
  const [pod] = await cluster.pods();
  const member = memberAt(pod?.status?.podIP ?? "", cluster.login);
  const { revision } = await member.status(patiently);
  assert.ok(revision > seen + 900_000_000, `${revision} after ${seen}`);
  await assert.rejects(
    member.list("/", { revision: seen, limit: 1 }),
    (error) => error instanceof EtcdError && error.reason === "compacted",
  );
}

/** Whether what was written can be read in the object. */
async function isReadable(bucket: Bucket, key: string, prefix: string): Promise<boolean> {
  const found = await run("grep", ["--count", "--text", "--fixed-strings", prefix, bucket.file(key)]).catch(() => "0");
  return Number(found.trim()) > 0;
}
