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
import { undisturbed } from "./support/undisturbed.ts";

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
      signal: AbortSignal.timeout(patience),
    });
  /** Waits until a command says so: a busy machine makes a member slow, and that is said first. */
  const says = (words: RegExp, where: string, ...command: string[]): Promise<string> => {
    let seen = "";
    return waitFor(
      `${command.join(" ")}: ${words}`,
      async () => {
        seen = await etcdIn(where, ...command).catch(String);
        return words.test(seen) ? seen : undefined;
      },
      { timeoutMs: patience, everyMs: 500, lastSeen: () => seen },
    );
  };

  before(async () => {
    await bundlePlugin(path.join(folder, "kubectl-etcd"));
    await installOperator("clusterwide");
    const namespace = await restrictedNamespace("plugin");
    cluster = await createCluster({ namespace, name }, { size: 3, TLS: { auto: true } }, clusterwide);
    await cluster.untilHealthy();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Kubelets report members some time after they serve, and one that a busy machine makes slow is said to be silent. */
  const wellView = (where = folder): Promise<View> => {
    let seen = "";
    return waitFor(
      "status to show a cluster that is well",
      async () => {
        seen = await etcdIn(where, "status", name, "-o", "json");
        const now = JSON.parse(seen) as View;
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
    await says(/^my-etcd +3\/3 +Ready/m, folder, "status");
  });

  test("the executable, which needs no Node, shows the same", async () => {
    const alone = path.join(folder, "alone");
    mkdirSync(alone);
    await buildExecutable(path.join(folder, "kubectl-etcd"), await strippedNode(), path.join(alone, "kubectl-etcd"));
    assert.equal((await wellView(alone)).members.length, 3);
    await says(/is healthy/, alone, "ctl", name, "endpoint", "health");
  });

  test("ctl reaches etcd through TLS, with nothing copied out of the cluster", async () => {
    await says(/^OK/, folder, "ctl", name, "put", "greeting", "hello");
    await says(/hello/, folder, "ctl", name, "get", "greeting");
    await says(/^(?:[^]*"Health" : true){3}/, folder, "ctl", name, "endpoint", "health", "-w", "fields");
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
    const moved = await undisturbed(cluster, 1, () => etcd("move-leader", name));
    assert.notEqual(moved.after.leader.name, moved.before.leader.name);
    const { result, before } = await undisturbed(cluster, 0, async () => {
      await wellView();
      return says(/: defragmented/, folder, "defrag", name, "--yes");
    });
    const lines = result.trim().split("\n");
    assert.equal(lines.length, 3);
    assert.ok(lines.at(-1)?.startsWith(`${before.leader.name}:`), result);
  });

  test("doctor finds nothing serious, and an upgrade has a plan", async () => {
    await wellView();
    await says(/This cluster has no backup/, folder, "doctor", name);
    await says(new RegExp(`${currentEtcd} → 3.7.3`), folder, "upgrade", name, "--to=3.7.3", "--plan");
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
    await waitFor(
      `${gone} to be replaced`,
      async () => {
        if ((await cluster.pod(gone)) !== undefined) await etcd("replace-member", name, gone, "--yes");
        return true;
      },
      { timeoutMs: patience, everyMs: 500 },
    );
    await cluster.untilHealthy({ without: [gone] });
    await says(/hello/, folder, "ctl", name, "get", "greeting");
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
