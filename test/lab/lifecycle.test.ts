// Labs come and go without a trace, beside each other, after an unclean death, and when their start is interrupted.
// Makes labs of its own, so it needs none that runs.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { ensurePackages } from "../../lab/build/packages.ts";
import { run } from "../../lab/machine/command.ts";
import { kubeconfigPath, type LabConfig, labConfig, labNode, machineFolder } from "../../lab/config.ts";
import { aliveDaemons, readDaemon, signalDaemon } from "../../lab/machine/daemon.ts";
import { down } from "../../lab/down.ts";
import { killProcesses, labProcesses } from "../../lab/machine/processes.ts";
import { waitFor } from "../../lab/progress.ts";
import { traces } from "../../lab/machine/traces.ts";
import { isUp, up } from "../../lab/up.ts";
import { owned, removeLeftLab } from "../support/left-lab.ts";
import { matrixTest, type Row, rowsOf } from "../support/matrix.ts";

const first = owned(labConfig({ name: "labx", subnet: "10.97.0.0/16", nodes: 1 }));
const second = owned(labConfig({ name: "laby", subnet: "10.96.0.0/16", nodes: 1 }));

const kubectl = (lab: LabConfig, ...args: string[]): Promise<string> =>
  run(path.join(lab.bin, "kubectl"), [`--kubeconfig=${kubeconfigPath(lab)}`, ...args]);

async function runPod(lab: LabConfig): Promise<void> {
  const overrides = { spec: { terminationGracePeriodSeconds: 0 } };
  await kubectl(
    lab,
    "run",
    "pod",
    "--image=lab.local/probe:1",
    `--overrides=${JSON.stringify(overrides)}`,
    "--",
    "serve",
  );
  await kubectl(lab, "wait", "--for=condition=Ready", "pod/pod", "--timeout=180s");
}

/** What labs could leave in folders that belong to the machine. */
function machineFiles(): string[] {
  const folders = ["/run/containerd", "/run/netns", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers"];
  return folders
    .filter((folder) => fs.existsSync(folder))
    .flatMap((folder) =>
      fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
    )
    .filter((file) => !/^\/run\/netns\/(?!lab[xy]-)/.test(file));
}

/** Kills all that runs of the lab, agents and containers, and leaves everything else lie. */
const killAll = (lab: LabConfig): Promise<void> => killProcesses(() => labProcesses(lab));

function command(...args: string[]): { child: ChildProcess; ended: Promise<{ code: number | null; text: string }> } {
  const program = path.resolve(import.meta.dirname, "../../lab/main.ts");
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return { child, ended: new Promise((resolve) => child.on("close", (code) => resolve({ code, text }))) };
}

async function takeDownBoth(): Promise<void> {
  for (const lab of [first, second]) await down(lab);
}

describe("two labs on one machine", () => {
  let files: string[] = [];
  before(async () => {
    // What a new machine lacks may start services of its own, which are no trace of a lab.
    await ensurePackages();
    for (const lab of [first, second]) await removeLeftLab(lab);
    await takeDownBoth();
    files = machineFiles();
  });
  after(takeDownBoth);

  test("run beside each other, each with its own pods, and do not reach each other", async () => {
    assert.deepEqual(await Promise.all([traces(first), traces(second)]), [[], []]);
    await up(first);
    await up(second);
    await Promise.all([runPod(first), runPod(second)]);
    assert.deepEqual([await isUp(first), await isUp(second)], [true, true]);
    const address = (await kubectl(second, "get", "pod", "pod", "-o", "jsonpath={.status.podIP}")).trim();
    assert.ok(address.startsWith(`${second.prefix}.16.`), address);
    const reach = (lab: LabConfig): Promise<string> =>
      kubectl(lab, "exec", "pod", "--", "/usr/local/bin/probe", "get", `http://${address}:8080/`);
    assert.match(await reach(second), /pod/);
    await assert.rejects(reach(first));
  });

  test("a lab that is up is left as it is, and refuses other settings", async () => {
    const processes = labProcesses(first).length;
    assert.deepEqual(await up(first), { t: "running" });
    assert.equal(labProcesses(first).length, processes);
    await assert.rejects(up({ ...first, nodes: 2 }), /runs with 1 nodes .* take it down first/);
  });

  test("a third one in a range that is taken is refused with what to type", async () => {
    const third = labConfig({ name: "labz", subnet: "10.97.0.0/16", nodes: 1 });
    await assert.rejects(up(third), /10\.97\.0\.0\/16 is in use by the lab "labx" of .*down --name labx/);
    assert.equal(fs.existsSync(third.state), false);
  });

  test("a lab of another folder is neither started over nor taken down", async () => {
    const elsewhere = { ...first, state: "/nowhere/.lab/labs/labx" };
    await assert.rejects(up(elsewhere), /"labx" is running from .*down --name labx/);
    await assert.rejects(down(elsewhere), /"labx" is running from .*down --name labx/);
    assert.equal(await isUp(first), true);
  });

  test("one goes without a trace while the other runs on, then that one too", async () => {
    const daemons = aliveDaemons(second).length;
    await down(first);
    assert.deepEqual(await traces(first), []);
    assert.equal(aliveDaemons(second).length, daemons);
    assert.match(await kubectl(second, "exec", "pod", "--", "/usr/local/bin/probe", "read", "/etc/hosts"), /pod/);
    await down(second);
    assert.deepEqual(await traces(second), []);
    assert.deepEqual(machineFiles(), files);
  });
});

describe("a lab that died uncleanly", () => {
  after(takeDownBoth);
  test("with all its processes killed it is seen as dead, and the next up starts over", async () => {
    await up(first);
    await runPod(first);
    await killAll(first);
    assert.equal(await isUp(first), false);
    assert.notDeepEqual(await traces(first), []);
    assert.equal((await up(first)).t, "started");
    assert.equal(await kubectl(first, "get", "pods", "-o", "name"), "");
  });

  matrixTest(
    "with only its control plane killed and pods still running it is cleaned up and started over",
    async () => {
      await runPod(first);
      const containers = labProcesses(first).filter(({ daemon }) => !daemon);
      assert.notEqual(containers.length, 0);
      for (const { pid } of labProcesses(first).filter(({ daemon }) => daemon)) process.kill(pid, "SIGKILL");
      assert.equal((await up(first)).t, "started");
      const now = new Set(labProcesses(first).map(({ pid }) => pid));
      assert.deepEqual(
        containers.filter(({ pid }) => now.has(pid)),
        [],
      );
    },
  );

  matrixTest("with its folder removed as well, it is cleaned up from what the machine knows", async () => {
    await runPod(first);
    await killAll(first);
    fs.rmSync(first.state, { recursive: true, force: true });
    assert.equal((await up(first)).t, "started");
  });

  test("with its folder removed while it runs, it goes without a trace", async () => {
    await runPod(first);
    // Its processes go on writing meanwhile.
    fs.rmSync(first.state, { recursive: true, force: true, maxRetries: 50, retryDelay: 20 });
    assert.notEqual(labProcesses(first).length, 0);
    await down(first);
    assert.deepEqual(await traces(first), []);
  });

  matrixTest("from another folder that is gone, it is cleaned up by the next lab of that name", async () => {
    await up(first);
    await runPod(first);
    await killAll(first);
    const record = path.join(machineFolder, "labx.json");
    const moved = { ...first, state: "/nowhere/.lab/labs/labx", prefix: "10.97", nodes: 3 };
    fs.writeFileSync(record, JSON.stringify(moved));
    assert.equal((await up(second)).t, "started");
    assert.equal((await up({ ...first, prefix: "10.88" })).t, "started");
    assert.equal(await kubectl(first, "get", "pods", "-o", "name"), "");
    assert.equal(await isUp(second), true);
    await Promise.all([down({ ...first, prefix: "10.88" }), down(second)]);
    assert.deepEqual(await Promise.all([traces(first), traces({ ...first, prefix: "10.88" }), traces(second)]), [
      [],
      [],
      [],
    ]);
  });
});

describe("a start that is interrupted", () => {
  after(takeDownBoth);
  const reachedApi = (): boolean => aliveDaemons(first).some((one) => one.component === "apiserver");
  const reachedNetwork = (): boolean => fs.existsSync(`/run/netns/${labNode(first, 0).netns}`);
  const moments: (Row & { what: string; reached: () => boolean })[] = [
    { what: "its network appears", reached: reachedNetwork, onlyInMatrix: true },
    { what: "its API server starts", reached: reachedApi, onlyInMatrix: true },
    { what: "its kubelet starts", reached: () => aliveDaemons(first).some((one) => one.component === "kubelet-n0") },
  ];
  for (const { what, reached } of rowsOf(moments)) {
    test(`when ${what}, leaves only its logs, and those go with the next down`, async () => {
      const { child, ended } = command("up", "--name", "labx", "--subnet", "10.97.0.0/16", "--nodes", "1");
      await waitFor(what, async () => reached() || undefined, { timeoutMs: 180_000, everyMs: 5 });
      child.kill("SIGINT");
      child.kill("SIGTERM");
      const { code, text } = await ended;
      assert.equal(code, 2, text);
      assert.match(text, /interrupted; everything it created is removed/);
      const left = (await traces(first)).filter((trace) => trace !== `file ${path.join(first.state, "logs")}`);
      assert.deepEqual(left, []);
      await down(first);
      assert.deepEqual(await traces(first), []);
    });
  }

  test("a second up of the same name meanwhile is refused in one sentence", async () => {
    const { child, ended } = command("up", "--name", "labx", "--subnet", "10.97.0.0/16", "--nodes", "1");
    const apiServer = await waitFor("the first start", async () => readDaemon(first, "apiserver"), {
      timeoutMs: 180_000,
    });
    // Otherwise the first may be done before the second asks.
    assert.ok(signalDaemon(apiServer, "SIGSTOP"));
    try {
      await assert.rejects(up(first), new RegExp(`"labx" is being started by process ${child.pid}`));
    } finally {
      signalDaemon(apiServer, "SIGCONT");
    }
    const { code, text } = await ended;
    assert.equal(code, 0, text);
    await down(first);
  });
});
