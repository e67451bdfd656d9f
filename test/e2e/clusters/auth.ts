// etcd's own authentication, switched on while clients write: with a login the operator goes on as ever, and without one it
// says so, harms nothing, and goes on as soon as it is given one.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { describe, test } from "node:test";
import { killContainer } from "../../../lab/faults/containers.ts";
import { bundlePlugin } from "../../../lab/images/bundle.ts";
import { run } from "../../../lab/machine/command.ts";
import { waitFor } from "../../../lab/progress.ts";
import { Login } from "../../../src/etcd/login.ts";
import { type Event, Pod, Secret } from "../../../src/kube/objects/kinds.ts";
import { enableAuth, giveLogin } from "../support/auth.ts";
import { clusterwide, createCluster } from "../support/cluster.ts";
import { deletePods } from "../support/disruptions.ts";
import { kube, lab, patience, patiently, restrictedNamespace } from "../support/environment.ts";
import { followers } from "../support/healthy.ts";
import { laneOf } from "../support/lane.ts";
import { onlyReplaced } from "../proofs/replaced.ts";
import { conditionOf } from "../support/status.ts";
import { undisturbed } from "../support/undisturbed.ts";
import { matrixTest } from "../../support/matrix.ts";

const operator = new Login("root", "of-the-operator");
const secret = "operator-login";

export function auth(): void {
  describe("authentication with a login", { concurrency: 1 }, () => {
    const on = laneOf("auth", async () => {
      const namespace = await restrictedNamespace("auth");
      await giveLogin(namespace, secret, operator);
      const spec = { size: 3, auth: { operatorSecret: secret } };
      return createCluster({ namespace, name: "auth" }, spec, {
        ...clusterwide,
        login: new Login("test", "of-the-test"),
      });
    });

    test("a pod that is deleted is replaced after authentication was switched on under writes", async () => {
      const { cluster, writer, first } = on();
      await writer.progress();
      await enableAuth(first, cluster, operator);
      const [victim] = followers(first);
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      onlyReplaced(first, await cluster.untilHealthy({ without: [victim.name] }), victim.name);
      await writer.nothingIsLost();
    });

    test("it grows and shrinks", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await cluster.scale(4);
      const grown = await cluster.untilHealthy();
      assert.equal(grown.members.length, 4);
      onlyReplaced(before, {
        ...grown,
        members: grown.members.filter(({ id }) => before.members.some((m) => m.id === id)),
      });
      await cluster.scale(3);
      assert.equal((await cluster.untilHealthy()).members.length, 3);
      await writer.nothingIsLost();
    });

    test("kubectl etcd moves the leader and defragments with the login of the operator, and is refused without", async () => {
      const { cluster, writer } = on();
      const { name, namespace } = cluster;
      const folder = mkdtempSync(path.join(tmpdir(), "kubectl-etcd-"));
      try {
        await bundlePlugin(path.join(folder, "kubectl-etcd"));
        const env = { PATH: `${folder}:${process.env["PATH"]}` };
        const etcd = (...words: string[]): Promise<string> =>
          run("kubectl", ["etcd", `--namespace=${namespace}`, ...words], {
            env,
            signal: AbortSignal.timeout(patience),
          });
        // On a busy machine a member is slow, and that is said first.
        const said = (words: RegExp, ...command: string[]): Promise<string> => {
          let seen = "";
          return waitFor(
            `${command.join(" ")}: ${words}`,
            async () => {
              seen = await etcd(...command).catch(String);
              return words.test(seen) ? seen : undefined;
            },
            { timeoutMs: patience, lastSeen: () => seen },
          );
        };
        await said(/user name is empty|permission denied/, "move-leader", name);
        const moved = await undisturbed(cluster, 1, () => said(/now leads/, "move-leader", name, "--login"));
        assert.notEqual(moved.after.leader.id, moved.before.leader.id);
        await cluster.untilPodsReady();
        const { result, before } = await undisturbed(cluster, 0, () =>
          said(/: defragmented/, "defrag", name, "--login", "--yes"),
        );
        const lines = result.trim().split("\n");
        assert.deepEqual([lines.length, lines.at(-1)?.startsWith(`${before.leader.name}:`)], [3, true], result);
        // Many a Secret is made with echo, which adds a line end.
        const data = { password: Buffer.from("of-the-operator\n").toString("base64") };
        await kube.mergePatch(Secret, { namespace, name: secret }, { data });
        const piped = `printf %s "from a pipe" | kubectl etcd --namespace=${namespace} ctl --login ${name} put greeting`;
        const put = (): Promise<string> => run("sh", ["-c", piped], { env, signal: AbortSignal.timeout(patience) });
        await waitFor("a write by etcdctl", put, { timeoutMs: patience });
        await said(/from a pipe/, "ctl", "--login", name, "get", "greeting");
        const failed = await said(/user name not found/, "ctl", "--login", name, "user", "get", "nobody");
        assert.doesNotMatch(failed, /of-the-operator/);
        const left = { namespace, labelSelector: "app=etcdctl" };
        assert.deepEqual([(await kube.list(Pod, left)).items, (await kube.list(Secret, left)).items], [[], []]);
        await writer.nothingIsLost();
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });

    matrixTest("it goes to another version", async () => {
      const { cluster, writer } = on();
      await cluster.edit({ version: "3.7.3" });
      const { members } = await cluster.untilHealthy();
      for (const { etcd } of members) assert.equal((await etcd.status(patiently)).version, "3.7.3");
      await writer.nothingIsLost();
    });
  });

  describe("authentication without a login", { concurrency: 1 }, () => {
    const on = laneOf("kept-out", async () => {
      const namespace = await restrictedNamespace("kept-out");
      const login = new Login("test", "of-the-test");
      return createCluster({ namespace, name: "kept-out" }, { size: 3 }, { ...clusterwide, login });
    });
    const untilReady = async (reason: string): Promise<string> => {
      const { cluster } = on();
      const isIt = (
        { reason: is, observedGeneration }: ReturnType<typeof readyOf>,
        generation: number | undefined,
      ): boolean => is === reason && observedGeneration === generation;
      const seen = await cluster.until(`Ready is ${reason}`, (now) => isIt(readyOf(now), now.metadata?.generation));
      return readyOf(seen).message;
    };

    /** Events of the time before: a busy machine may have lost its quorum for a moment while members joined. */
    let earlier: ReadonlySet<string | undefined> = new Set();

    test("is reported with what to do, and nothing is done to the members", async () => {
      const { cluster, writer, first } = on();
      earlier = new Set((await cluster.events()).map(({ metadata }) => metadata?.name));
      await enableAuth(first, cluster, operator);
      assert.match(await untilReady("AuthRequired"), /Create a Secret .* spec\.auth\.operatorSecret/);
      await cluster.untilEvent("Auth Required");
      await cluster.scale(5);
      await untilReady("AuthRequired");
      await cluster.until("it is available", (now) => conditionOf(now, "Available")?.status === "True");
      assert.deepEqual(await podsOf(cluster), first.members.map(({ uid }) => uid).toSorted());
      const [member] = first.members;
      assert.equal((await member?.etcd.memberList({ linearizable: true }, patiently))?.members.length, 3);
      await writer.nothingIsLost();
    });

    test("a container that crashes is put back meanwhile", async () => {
      const { cluster, writer, first } = on();
      const [victim] = followers(first);
      assert.ok(victim);
      await killContainer(lab, `${cluster.namespace}/${victim.name}`);
      await waitFor(
        "the container to be restarted",
        async () => {
          const pod = await cluster.pod(victim.name);
          const restarts = pod?.status?.containerStatuses?.[0]?.restartCount ?? 0;
          return restarts > victim.restarts && (await victim.etcd.status(patiently)).leader !== undefined
            ? true
            : undefined;
        },
        { timeoutMs: patience },
      );
      assert.deepEqual(await podsOf(cluster), first.members.map(({ uid }) => uid).toSorted());
      await writer.nothingIsLost();
    });

    test("a Secret that is missing, and a wrong password, have sentences of their own, and the right one ends it", async () => {
      const { cluster, writer, first } = on();
      await cluster.edit({ auth: { operatorSecret: secret } });
      assert.match(await untilReady("AuthRequired"), /there is no Secret operator-login/);
      const wrong = "of-nobody-at-all";
      await giveLogin(cluster.namespace, secret, new Login("root", wrong));
      assert.match(await untilReady("LoginRefused"), /Secret operator-login .*the password does not match/);
      const letInAt = Date.now();
      await giveLogin(cluster.namespace, secret, operator);
      const after = await cluster.untilHealthy();
      assert.equal(after.members.length, 5);
      onlyReplaced(first, {
        ...after,
        members: after.members.filter(({ id }) => first.members.some((m) => m.id === id)),
      });
      const published = JSON.stringify([await cluster.events(), (await cluster.get()).status]);
      assert.ok(!published.includes(wrong) && !published.includes(operator.password), "a password was published");
      assert.doesNotMatch(JSON.stringify((await cluster.get()).status), /QuorumLost/);
      // Later it is true what is said of the quorum: members join again.
      const isHarm = ({ reason, eventTime }: Event): boolean =>
        reason === "Member Removed" || (reason === "Quorum Lost" && Date.parse(eventTime ?? "") < letInAt);
      const harm = (await cluster.events()).filter((event) => !earlier.has(event.metadata?.name) && isHarm(event));
      assert.deepEqual(
        harm.map(({ note }) => note),
        [],
        "harm was done or claimed",
      );
      await writer.nothingIsLost();
    });
  });
}

type Cluster = Awaited<ReturnType<typeof createCluster>>;

const podsOf = async (cluster: Cluster): Promise<string[]> =>
  (await cluster.pods()).map(({ metadata }) => metadata?.uid ?? "").toSorted();

function readyOf(cluster: Awaited<ReturnType<Cluster["get"]>>) {
  const { reason = "", message = "", observedGeneration } = conditionOf(cluster, "Ready") ?? {};
  return { reason, message, observedGeneration };
}
