// The kubectl plugin as people use it: built into one file, and into one executable, run by kubectl, against a cluster with
// TLS that serves.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { bundlePlugin } from "../../lab/images/bundle.ts";
import { strippedNode } from "../../lab/images/node.ts";
import { CommandError, run } from "../../lab/machine/command.ts";
import { waitFor } from "../../lab/progress.ts";
import { buildExecutable } from "../../lab/plugin/executable.ts";
import { commands } from "../../src/plugin/commands.ts";
import { yesFlag } from "../../src/plugin/confirm.ts";
import { matrixTest } from "../support/matrix.ts";
import { typeLines } from "../support/typist.ts";
import { placeIn } from "./own-kubeconfig.ts";
import { createCluster, clusterwide, currentEtcd, type TestCluster } from "./support/cluster.ts";
import { patience, restrictedNamespace } from "./support/environment.ts";
import { followers } from "./support/healthy.ts";
import { installOperator } from "./support/operator.ts";

interface Member {
  readonly name: string;
  readonly role: string;
  readonly health: string;
  readonly lag?: number;
}

interface View {
  readonly ready: { readonly status: string };
  readonly quorum: { readonly margin: number };
  readonly members: readonly Member[];
  readonly certificates: readonly { readonly daysLeft: number }[];
  readonly notes: readonly string[];
}

/** Examples of the manual that are not typed as they stand, by their beginning. */
const notTyped: Readonly<Record<string, string>> = {
  watch: "it goes on until somebody ends it; commands.test.ts does",
  dashboard: "it goes on until somebody ends it; dashboard.test.ts opens it",
  "logs my-etcd MEMBER -f": "it goes on until somebody ends it",
  "logs my-etcd MEMBER --previous": "no container has restarted; a runbook has the same",
  backup: "it needs a store; commands.test.ts takes one",
  restore: "it needs a backup; commands.test.ts restores one",
  "upgrade my-etcd --to=3.7.3": "it changes all members; rolls have the same, and --plan is typed below",
  "completion --install": "it writes into a folder of the machine; test/install/plugin.test.ts reads what it prints",
};

/** As in `my-etcd-2b7kq9xw4c`, which stands for a member in the manual. */
const someMember = /my-etcd-[a-z0-9]{10}/g;

/** Where a person would be asked, --yes answers. */
const examples: readonly string[] = commands
  .flatMap(({ examples, flags }) => {
    const asks = flags.includes(yesFlag);
    return examples.map(({ line }) => (asks ? `${line} --yes` : line));
  })
  .filter((line) => !Object.keys(notTyped).some((start) => line.replaceAll(someMember, "MEMBER").startsWith(start)));

describe("kubectl etcd", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "kubectl-etcd-"));
  /** The manual calls it so. */
  const name = "my-etcd";
  let cluster: TestCluster;

  const etcd = (...words: string[]): Promise<string> => etcdIn(folder, ...words);
  const etcdIn = (where: string, ...words: string[]): Promise<string> =>
    run("kubectl", ["etcd", `--namespace=${cluster.namespace}`, ...words], {
      env: { PATH: `${where}:${process.env["PATH"]}` },
      signal: AbortSignal.timeout(120_000),
    });
  const view = async (): Promise<View> => JSON.parse(await etcd("status", name, "-o", "json"));

  before(async () => {
    await bundlePlugin(path.join(folder, "kubectl-etcd"));
    await installOperator("clusterwide");
    const namespace = await restrictedNamespace("plugin");
    cluster = await createCluster({ namespace, name }, { size: 3, TLS: { auto: true } }, clusterwide);
    await cluster.untilHealthy();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Kubelets report members some time after they serve, and one that a busy machine makes slow is said to be silent. */
  const wellView = (): Promise<View> => {
    let seen = "";
    return waitFor(
      "status to show a cluster that is well",
      async () => {
        const now = await view();
        seen = JSON.stringify(now);
        const isWell = now.ready.status === "True" && now.quorum.margin === 1 && now.notes.length === 0;
        return isWell && now.members.every(({ health }) => health === "healthy") ? now : undefined;
      },
      { timeoutMs: patience, everyMs: 500, lastSeen: () => seen },
    );
  };

  test("status shows a cluster that is well, with what its members say", async () => {
    const { members, certificates } = await wellView();
    assert.equal(members.length, 3);
    for (const { lag } of members) assert.equal(typeof lag, "number");
    assert.ok(certificates.length > 0 && certificates.every(({ daysLeft }) => daysLeft > 30));
    assert.match(await etcd("status"), /^my-etcd +3\/3 +Ready/m);
  });

  test("the executable, which needs no Node, shows the same", async () => {
    const alone = path.join(folder, "alone");
    mkdirSync(alone);
    await buildExecutable(path.join(folder, "kubectl-etcd"), await strippedNode(), path.join(alone, "kubectl-etcd"));
    const { ready, members } = JSON.parse(await etcdIn(alone, "status", name, "-o", "json")) as View;
    assert.deepEqual([ready.status, members.length], ["True", 3]);
    assert.match(await etcdIn(alone, "ctl", name, "endpoint", "health"), /is healthy/);
  });

  test("ctl reaches etcd through TLS, with nothing copied out of the cluster", async () => {
    await etcd("ctl", name, "put", "greeting", "hello");
    assert.match(await etcd("ctl", name, "get", "greeting"), /hello/);
    assert.equal((await etcd("ctl", name, "endpoint", "health", "-w", "fields")).match(/"Health" : true/g)?.length, 3);
  });

  /** Read again for each that names a member: another may have moved the leader. */
  const follower = async (example: string): Promise<string> =>
    example.search(someMember) < 0 ? "" : (followers(await cluster.untilHealthy())[0]?.name ?? "");

  matrixTest("examples of the manual work when they are typed", async () => {
    assert.ok(examples.length >= 15, examples.join("\n"));
    await etcd("ctl", name, "put", "/registry/one", "1");
    const { KUBECONFIG } = await placeIn(cluster.namespace);
    const env = { KUBECONFIG, PATH: `${folder}:${process.env["PATH"]}` };
    for (const example of examples) {
      const line = `kubectl etcd ${example.replaceAll(someMember, await follower(example))}`;
      const [printed] = await typeLines([line], env);
      assert.notEqual(printed?.trim(), "", line);
    }
    await cluster.untilHealthy();
  });

  test("move-leader moves it, and defrag takes it last", async () => {
    await wellView();
    const { leader: before } = await cluster.untilHealthy();
    await etcd("move-leader", name);
    const { leader: now } = await cluster.untilHealthy();
    assert.notEqual(now.name, before.name);
    await wellView();
    const lines = (await etcd("defrag", name, "--yes")).trim().split("\n");
    assert.equal(lines.length, 3);
    assert.ok(lines.at(-1)?.startsWith(`${now.name}:`), lines.join("\n"));
  });

  test("doctor finds nothing serious, and an upgrade has a plan", async () => {
    await wellView();
    assert.match(await etcd("doctor", name), /This cluster has no backup/);
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

  test("replace-member replaces the leader with a new member", async () => {
    const { name: gone } = (await cluster.untilHealthy()).leader;
    await etcd("replace-member", name, gone, "--yes");
    await cluster.untilHealthy({ without: [gone] });
    assert.match(await etcd("ctl", name, "get", "greeting"), /hello/);
  });

  test("a missing permission is reported by name, without a stack", async () => {
    const failed = await etcd("status", "--as=ada").then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(failed instanceof CommandError);
    assert.equal(failed.exitCode, 1);
    assert.match(
      failed.stderr,
      /^You are ada and cannot list etcdclusters\.etcd\.database\.coreos\.com in the namespace/,
    );
    assert.doesNotMatch(failed.stderr, /\n\s+at /);
  });
});
