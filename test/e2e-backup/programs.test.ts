// The three programs of etcd-operator 0.9, each in a Deployment of its own, with the manifests that its users have: a backup,
// a series and a restore, and a backup that the old program left behind.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { loadOperatorImage } from "../../lab/image.ts";
import { run } from "../../lab/machine/command.ts";
import { waitFor } from "../../lab/progress.ts";
import {
  backupManifest,
  periodicBackupManifest,
  storedBackupManifest,
} from "../../src/api/etcd-backup/testing/old-manifests.ts";
import { EtcdBackup } from "../../src/api/etcd-backup/etcd-backup.ts";
import { restoreManifest } from "../../src/api/etcd-restore/testing/old-manifests.ts";
import { isNotFound } from "../../src/kube/client/errors.ts";
import { Lease, Pod } from "../../src/kube/objects/kinds.ts";
import type { Key } from "../../src/kube/objects/objects.ts";
import { TestCluster } from "../e2e/support/cluster.ts";
import { kube, lab, patience, patiently, restrictedNamespace } from "../e2e/support/environment.ts";
import { memberAt } from "../e2e/support/healthy.ts";
import { root } from "../suites.ts";
import { apply, kubectl } from "../support/kubectl.ts";
import { type Bucket, startBucket } from "./support/bucket.ts";
import { untilBackedUp, untilBackup, untilRestored } from "./support/objects.ts";

const programs = ["etcd-operator", "etcd-backup-operator", "etcd-restore-operator"] as const;
const example = path.join(root, "example");

describe("the three programs of etcd-operator 0.9", { concurrency: 1 }, () => {
  let namespace: string;
  let bucket: Bucket;
  let cluster: TestCluster;
  const key = (name: string): Key => ({ namespace, name });
  /** The manifest as it is, but for the bucket and its endpoint. */
  const here = <T extends { metadata: object; spec: { s3: object } }>(manifest: T) => ({
    ...manifest,
    metadata: { ...manifest.metadata, namespace },
    spec: { ...manifest.spec, s3: bucket.at("etcd.backup") },
  });

  before(async () => {
    [bucket, namespace] = await Promise.all([startBucket(), restrictedNamespace("programs")]);
    await loadOperatorImage(lab);
    await bucket.open(namespace);
    await run(path.join(example, "rbac/create_role.sh"), [`--namespace=${namespace}`]);
    await install(await clustersOnly());
    cluster = new TestCluster(key("example-etcd-cluster"));
    await kubectl("apply", `--namespace=${namespace}`, `--filename=${example}/example-etcd-cluster.yaml`);
    await leaveBehind();
    for (const program of ["etcd-backup-operator", "etcd-restore-operator"])
      await install(await readFile(path.join(example, program, "deployment.yaml"), "utf8"));
    for (const program of programs)
      await kubectl("rollout", "status", `--namespace=${namespace}`, `deployment/${program}`, "--timeout=120s");
  });
  after(() => kubectl("delete", "clusterrolebinding", `etcd-operator-${namespace}`, "--ignore-not-found"));

  test("do one job each", async () => {
    for (const program of programs) {
      const { spec } = await waitFor(`a leading ${program}`, () => kube.get(Lease, key(program)), {
        timeoutMs: patience,
      });
      assert.match(spec?.holderIdentity ?? "", new RegExp(`^${program}-[0-9a-f]+-`));
    }
  });

  test("take a backup, with the status that it had", async () => {
    const { leader } = await cluster.untilHealthy();
    for (const name of ["/one", "/two"]) await leader.etcd.put(name, "before the backup", patiently);
    const { revision } = await leader.etcd.status(patiently);
    await apply(here(backupManifest));
    const { status } = await untilBackedUp(key(backupManifest.metadata.name));
    const { succeeded, Reason, etcdVersion, etcdRevision, lastSuccessDate } = status ?? {};
    assert.deepEqual(
      { succeeded, Reason, etcdVersion, etcdRevision },
      { succeeded: true, Reason: undefined, etcdVersion: "3.2.13", etcdRevision: revision },
    );
    assert.match(lastSuccessDate ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(await bucket.keys("etcd.backup"), ["etcd.backup"]);
  });

  test("take a series of them, keep the newest four, and leave the single one alone", async () => {
    const { backupPolicy } = periodicBackupManifest.spec;
    const series = here(periodicBackupManifest);
    // Every 125 seconds would take too long.
    await apply({ ...series, spec: { ...series.spec, backupPolicy: { ...backupPolicy, backupIntervalInSecond: 2 } } });
    const name = periodicBackupManifest.metadata.name;
    const { status } = await untilBackup(key(name), "six runs", (seen) => (seen.status?.history ?? []).length >= 6);
    assert.ok(status?.succeeded);
    await kube.delete(EtcdBackup, key(name));
    await waitFor("no worker", async () => ((await workersOf(name)) === 0 ? true : undefined), { timeoutMs: patience });
    const [single, ...kept] = await bucket.keys("etcd.backup");
    assert.equal(single, "etcd.backup");
    // A run that was under way has perhaps not deleted the fifth.
    assert.ok(kept.length === 4 || kept.length === 5, kept.join(", "));
    for (const one of kept) assert.match(one, /^etcd\.backup_v\d+_\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d$/);
  });

  test("restore a cluster that is lost, with what was written before the backup", async () => {
    const before = await cluster.untilHealthy();
    await before.leader.etcd.put("/three", "after the backup", patiently);
    await kubectl("delete", "pods", `--namespace=${namespace}`, "--selector=app=etcd", "--force", "--grace-period=0");
    await apply(here(restoreManifest));
    const { status } = await untilRestored(key(restoreManifest.metadata.name));
    assert.deepEqual({ succeeded: status?.succeeded, reason: status?.reason }, { succeeded: true, reason: undefined });
    const after = await cluster.untilHealthy();
    assert.notEqual(after.clusterId, before.clusterId);
    for (const { address } of after.members) {
      const { keys } = await memberAt(address).list("/", {}, patiently);
      assert.deepEqual(
        keys.map(({ key, value }) => [key, Buffer.from(value).toString()]),
        [
          ["/one", "before the backup"],
          ["/two", "before the backup"],
        ],
      );
    }
  });

  test("do not run a backup again that the old program has taken, and let it be deleted", async () => {
    const { name } = storedBackupManifest.metadata;
    const { status } = await untilBackup(key(name), "to be reconciled", (seen) => seen.status?.phase !== undefined);
    const { phase, run, history = [], etcdRevision, lastSuccessDate } = status ?? {};
    assert.deepEqual({ phase, run, history }, { phase: "Succeeded", run: undefined, history: [] });
    const { status: old } = storedBackupManifest;
    assert.deepEqual(
      { etcdRevision, lastSuccessDate },
      {
        etcdRevision: old.etcdRevision,
        lastSuccessDate: old.lastSuccessDate,
      },
    );
    assert.equal(await workersOf(name), 0);
    assert.deepEqual(await bucket.keys("of-the-old-program"), []);
    await kube.delete(EtcdBackup, key(name));
    const gone = (): Promise<true | undefined> =>
      kube.get(EtcdBackup, key(name)).then(
        () => undefined,
        (error: unknown) => {
          if (isNotFound(error)) return true;
          throw error;
        },
      );
    await waitFor("it to be gone", gone, { timeoutMs: patience });
  });

  const install = (manifest: string): Promise<string> =>
    run("kubectl", ["apply", `--namespace=${namespace}`, "--filename=-"], { input: manifest });

  /** Before there is a program that could run it. */
  async function leaveBehind(): Promise<void> {
    const { status, ...manifest } = storedBackupManifest;
    await kubectl("wait", "--for=condition=Established", "crd/etcdbackups.etcd.database.coreos.com", "--timeout=60s");
    await apply({ ...here(manifest), spec: { ...manifest.spec, s3: bucket.at("of-the-old-program") } });
    await kube.mergePatch(EtcdBackup, key(manifest.metadata.name), { status }, { subresource: "status" });
  }

  async function workersOf(name: string): Promise<number> {
    const { items } = await kube.list(Pod, { namespace, labelSelector: `etcd_backup=${name}` });
    return items.length;
  }
});

/** example/deployment.yaml with the flags that leave backups and restores to the others. */
async function clustersOnly(): Promise<string> {
  const text = await readFile(path.join(example, "deployment.yaml"), "utf8");
  const command = "            - etcd-operator\n";
  if (!text.includes(command)) throw new Error("example/deployment.yaml does not start etcd-operator any more");
  return text.replace(command, `${command}            - -backup=false\n            - -restore=false\n`);
}
