// The kubectl plugin as people use it: built into one file, run by kubectl, against a cluster with TLS that serves.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { bundlePlugin } from "../../lab/images/bundle.ts";
import { CommandError, run } from "../../lab/machine/command.ts";
import { ready as podsReady } from "../support/kubectl.ts";
import { createCluster, clusterwide, currentEtcd, type TestCluster } from "./support/cluster.ts";
import { restrictedNamespace } from "./support/environment.ts";
import { installOperator } from "./support/operator.ts";

interface View {
  readonly ready: { readonly status: string };
  readonly quorum: { readonly margin: number };
  readonly members: readonly { readonly name: string; readonly role: string; readonly lag?: number }[];
  readonly certificates: readonly { readonly daysLeft: number }[];
  readonly notes: readonly string[];
}

describe("kubectl etcd", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "kubectl-etcd-"));
  const name = "shown";
  let cluster: TestCluster;

  const etcd = (...words: string[]): Promise<string> =>
    run("kubectl", ["etcd", `--namespace=${cluster.namespace}`, ...words], {
      env: { PATH: `${folder}:${process.env["PATH"]}` },
      signal: AbortSignal.timeout(120_000),
    });
  const view = async (): Promise<View> => JSON.parse(await etcd("status", name, "-o", "json"));
  const leader = async (): Promise<string | undefined> =>
    (await view()).members.find(({ role }) => role === "leader")?.name;

  before(async () => {
    await bundlePlugin(path.join(folder, "kubectl-etcd"));
    await installOperator("clusterwide");
    const namespace = await restrictedNamespace("plugin");
    cluster = await createCluster({ namespace, name }, { size: 3, TLS: { auto: true } }, clusterwide);
    await cluster.untilHealthy();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("status shows a cluster that is well, with what its members say", async () => {
    const { ready, quorum, members, certificates, notes } = await view();
    assert.deepEqual([ready.status, quorum.margin, notes], ["True", 1, []]);
    assert.equal(members.length, 3);
    for (const { lag } of members) assert.equal(typeof lag, "number");
    assert.ok(certificates.length > 0 && certificates.every(({ daysLeft }) => daysLeft > 30));
    assert.match(await etcd("status"), /^shown +3\/3 +Ready/m);
  });

  test("ctl reaches etcd through TLS, with nothing copied out of the cluster", async () => {
    await etcd("ctl", name, "put", "greeting", "hello");
    assert.match(await etcd("ctl", name, "get", "greeting"), /hello/);
    assert.equal((await etcd("ctl", name, "endpoint", "health", "-w", "fields")).match(/"Health" : true/g)?.length, 3);
  });

  test("move-leader moves it, and defrag takes it last", async () => {
    const before = await leader();
    await etcd("move-leader", name);
    const now = await leader();
    assert.notEqual(now, before);
    await podsReady(cluster.namespace, "pods", `--selector=etcd_cluster=${name}`);
    const lines = (await etcd("defrag", name, "--yes")).trim().split("\n");
    assert.equal(lines.length, 3);
    assert.ok(lines.at(-1)?.startsWith(`${now}:`), lines.join("\n"));
  });

  test("doctor finds nothing serious, and an upgrade has a plan", async () => {
    assert.match(await etcd("doctor", name), /There is no backup of this cluster/);
    assert.match(await etcd("upgrade", name, "--to=3.7.3", "--plan"), new RegExp(`${currentEtcd} → 3.7.3`));
  });

  test("report holds all parts, and no key", async () => {
    const target = path.join(folder, "report");
    await etcd("report", name, `--file=${target}`);
    const files = readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    assert.ok(files.length > 15, `${files.length} files`);
    for (const entry of files) {
      const text = readFileSync(path.join(entry.parentPath, entry.name), "utf8");
      assert.doesNotMatch(text, /PRIVATE KEY|LS0tLS1CRUdJTi/, entry.name);
    }
    assert.match(readFileSync(path.join(target, "secrets.yaml"), "utf8"), /ca\.key: \(removed\)/);
  });

  test("replace-member puts a new member in the place of the leader", async () => {
    const gone = await leader();
    assert.ok(gone !== undefined);
    await etcd("replace-member", name, gone, "--yes");
    await cluster.untilHealthy({ without: [gone] });
    assert.match(await etcd("ctl", name, "get", "greeting"), /hello/);
  });

  test("who lacks a right is told which, and sees no stack", async () => {
    const failed = await etcd("status", "--as=ada").then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(failed instanceof CommandError);
    assert.equal(failed.exitCode, 1);
    assert.match(
      failed.stderr,
      /^You are ada, and may not list etcdclusters\.etcd\.database\.coreos\.com in the namespace/,
    );
    assert.doesNotMatch(failed.stderr, /\n\s+at /);
  });
});
