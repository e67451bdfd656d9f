// Operators that are killed right after their writes, in the middle of a backup and of a restore: each starts from what the
// last one left, and what comes of it is what an undisturbed one does: one backup, and the data replaced once.
// (src/backup/crashes.test.ts and src/restore/crashes.test.ts try each single crash in memory.)
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { loadOperatorImage } from "../../lab/image.ts";
import { operatorImageTag } from "../../lab/images/operator.ts";
import { waitFor } from "../../lab/progress.ts";
import { EtcdBackup } from "../../src/api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../../src/api/etcd-restore/etcd-restore.ts";
import type { KubeObject, Kind } from "../../src/kube/objects/objects.ts";
import { createCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { kube, lab, patience, restrictedNamespace } from "../e2e/support/environment.ts";
import type { HealthyCluster } from "../e2e/support/healthy.ts";
import { deleteLeases, OperatorProcess } from "../e2e/support/operator-process.ts";
import { Writer } from "../e2e/proofs/writer.ts";
import { CrashingOperators } from "../e2e-faults/support/crashing-operators.ts";
import { root } from "../suites.ts";
import { kubectl } from "../support/kubectl.ts";
import { type Row, rowsOf } from "../support/matrix.ts";
import { type Bucket, startBucket } from "./support/bucket.ts";
import { backUp, namespaced, restore, untilBackedUp } from "./support/objects.ts";

interface Crashes extends Row {
  /** Writes of each operator. */
  readonly changes: number;
  readonly after: string;
  /** Operators that must have been killed for the test to prove anything. */
  readonly fewest: number;
}

const flags = [`-worker-image=${operatorImageTag}`];
const kinds = ["etcdclusters", "etcdbackups", "etcdrestores"];

/** What an undisturbed operator has made before the others come. */
interface Ground {
  readonly cluster: TestCluster;
  readonly first: HealthyCluster;
  readonly written: ReadonlyMap<string, string>;
  readonly writer: Writer;
  readonly operators: CrashingOperators;
}

describe("crashing operators", { concurrency: 2 }, () => {
  let bucket: Bucket;
  before(async () => {
    [bucket] = await Promise.all([startBucket(), loadOperatorImage(lab)]);
    await kubectl("apply", "--server-side", "--filename", `${root}/example/crd`);
    const crds = kinds.map((plural) => `crd/${plural}.etcd.database.coreos.com`);
    await kubectl("wait", "--for=condition=Established", ...crds, "--timeout=60s");
  });

  /** `prepare`: what has to be there, besides a cluster with data, before the first of them is killed. */
  async function killedWhile(
    name: string,
    { size, changes }: { readonly size: number; readonly changes: number },
    prepare: (cluster: TestCluster) => Promise<unknown>,
    work: (ground: Ground) => Promise<void>,
  ): Promise<number> {
    const namespace = await restrictedNamespace(name);
    await bucket.open(namespace);
    const calm = new OperatorProcess({ namespace, flags });
    const cluster = await createCluster({ namespace, name }, { size });
    const first = await calm.during(cluster.untilHealthy());
    const writer = new Writer(cluster);
    await writer.progress(20);
    await writer.stop();
    const written = writer.soFar();
    await calm.during(prepare(cluster));
    await calm.kill();
    await deleteLeases(namespace);
    const operators = new CrashingOperators(namespace, changes, flags);
    try {
      await work({ cluster, first, written, writer, operators });
    } finally {
      await operators.stop();
    }
    // Frees the machine for the others.
    await kube.delete(EtcdCluster, cluster.key);
    return operators.crashes;
  }

  const path = ({ namespace }: TestCluster): string => `${namespace}/saved`;
  const source = (cluster: TestCluster) => ({ storageType: "S3", s3: bucket.at(path(cluster)) }) as const;

  const ofBackups: readonly Crashes[] = [
    { changes: 1, after: "every write", fewest: 5, onlyInMatrix: true },
    { changes: 2, after: "every second write", fewest: 2 },
  ];
  for (const { changes, after, fewest } of rowsOf(ofBackups))
    test(`that crash after ${after} take one backup and verify it once`, async (t) => {
      const crashes = await killedWhile(
        `backup-${changes}`,
        { size: 1, changes },
        async () => {},
        async ({ cluster, operators }) => {
          const key = { namespace: cluster.namespace, name: "saved" };
          const spec = { clusterRef: { name: cluster.name }, ...source(cluster), verify: { restore: true } };
          await backUp(key, spec, namespaced);
          const { status } = await operators.during(untilOver(EtcdBackup, key));
          assert.equal(status?.phase, "Succeeded", JSON.stringify(status));
          assert.equal(status?.lastVerified?.path, status?.lastBackup?.path);
          assert.deepEqual(
            status?.history?.map(({ result }) => result),
            ["Succeeded"],
          );
          assert.deepEqual(await bucket.keys(cluster.namespace), [path(cluster)]);
          assert.equal(podsMade(operators), 2, operators.changes.join(", "));
        },
      );
      t.diagnostic(`${crashes} operators were killed`);
      assert.ok(crashes >= fewest, `only ${crashes} operators were killed`);
    });

  const ofRestores: readonly Crashes[] = [
    { changes: 1, after: "every write", fewest: 20, onlyInMatrix: true },
    { changes: 8, after: "every eighth write", fewest: 3 },
  ];
  for (const { changes, after, fewest } of rowsOf(ofRestores))
    test(`that crash after ${after} replace the data of a cluster once, and lose nothing of the backup`, async (t) => {
      const backup = async (cluster: TestCluster): Promise<void> => {
        const key = { namespace: cluster.namespace, name: "saved" };
        await backUp(key, { clusterRef: { name: cluster.name }, ...source(cluster) }, namespaced);
        await untilBackedUp(key);
      };
      const crashes = await killedWhile(
        `restore-${changes}`,
        { size: 3, changes },
        backup,
        async ({ cluster, first, written, writer, operators }) => {
          const { storageType: backupStorageType, ...where } = source(cluster);
          await restore(cluster.key, { etcdCluster: { name: cluster.name }, backupStorageType, ...where }, namespaced);
          const { status } = await operators.during(untilOver(EtcdRestore, cluster.key));
          assert.equal(status?.phase, "Succeeded", JSON.stringify(status));
          const after = await operators.during(cluster.untilHealthy());
          assert.notEqual(after.clusterId, first.clusterId);
          assert.equal(status?.clusterId, after.clusterId);
          assert.deepEqual(await writer.missing(written), []);
          const [saved, ...others] = (await bucket.keys(cluster.namespace)).toReversed();
          assert.match(saved ?? "", /saved\.before-/);
          assert.deepEqual(others, [path(cluster)]);
          t.diagnostic(`${podsMade(operators)} pods were made`);
        },
      );
      t.diagnostic(`${crashes} operators were killed`);
      assert.ok(crashes >= fewest, `only ${crashes} operators were killed`);
    });
});

const podsMade = ({ changes }: CrashingOperators): number => changes.filter((change) => change === "POST pods").length;

/** Operators that die after each write take long. */
function untilOver<T extends KubeObject & { status?: { phase?: string } }>(
  kind: Kind<T>,
  key: TestCluster["key"],
): Promise<T> {
  let seen: T | undefined;
  return waitFor(
    `${kind.kind} ${key.name} to be over`,
    async () => {
      seen = await kube.get(kind, key);
      return seen.status?.phase === "Succeeded" || seen.status?.phase === "Failed" ? seen : undefined;
    },
    { timeoutMs: 3 * patience, everyMs: 200, lastSeen: () => JSON.stringify(seen?.status) },
  );
}
