// Every fault of the lab does what it says, and is undone by what is said to undo it.
import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { after, afterEach, before, describe, test } from "node:test";
import type { Node, Pod } from "kubernetes-types/core/v1.js";
import { isReady } from "../../lab/control-plane/api.ts";
import { hostAddress, labNodes, UsageError } from "../../lab/config.ts";
import { readDaemon } from "../../lab/machine/daemon.ts";
import { killContainer, pauseContainer } from "../../lab/faults/containers.ts";
import { cacheDns, freezeApi, freezeDns, stopApi, stopDns } from "../../lab/faults/control-plane.ts";
import { delay } from "../../lab/faults/delay.ts";
import { fillDisk } from "../../lab/faults/disk.ts";
import { helpText, restartApi } from "../../lab/faults/main.ts";
import { cutNode, cutPods, loss } from "../../lab/faults/network.ts";
import { powerOff } from "../../lab/faults/power.ts";
import { faultsInForce } from "../../lab/faults/record.ts";
import { slowDisk } from "../../lab/faults/throttle.ts";
import * as undo from "../../lab/faults/undo.ts";
import { findPod, parsePodName, type RunningPod } from "../../lab/nodes/pods.ts";
import { nodeProcesses } from "../../lab/machine/processes.ts";
import { waitFor } from "../../lab/progress.ts";
import { apply, exec, kubectl, kubectlJson, ownNamespace, ready } from "../support/kubectl.ts";
import { testLab } from "../support/lab.ts";
import { matrixTest } from "../support/matrix.ts";
import { answerTime, datagramsThrough } from "./inside.ts";

const lab = testLab();
// Here and not in a hook: what a hook registers for the end belongs to the first suite inside, and would end with it.
const namespace = await ownNamespace("faults");

const volumes = [
  { name: "disk", emptyDir: {} },
  { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "16Mi" } },
];
const probe = (name: string, nodeName: string, moreVolumes: object[] = []): object => {
  const all = [...volumes, ...moreVolumes] as { name: string }[];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 0,
      volumes: all,
      containers: [
        {
          name: "main",
          image: "lab.local/probe:1",
          command: ["/usr/local/bin/probe", "serve"],
          readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 },
          volumeMounts: all.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` })),
        },
      ],
    },
  };
};

const full = (name: string): string => `${namespace}/${name}`;
const pod = (name: string): Promise<RunningPod> => findPod(lab, parsePodName(full(name)));
const write = (name: string, file: string, text: string): Promise<string> =>
  exec(namespace, name, "/usr/local/bin/probe", "write", file, text);
const read = (name: string, file: string): Promise<string> =>
  exec(namespace, name, "/usr/local/bin/probe", "read", file);

async function restarts(name: string): Promise<number> {
  const { status } = await kubectlJson<Pod>("get", "pod", name, `--namespace=${namespace}`);
  return status?.containerStatuses?.[0]?.restartCount ?? 0;
}

async function untilReaches(from: string, to: string): Promise<void> {
  const [source, target] = await Promise.all([pod(from), pod(to)]);
  await waitFor(`${from} to reach ${to}`, () => answerTime(source, target.address), { timeoutMs: 60_000 });
}

function unplaced(object: object): object {
  const { spec, ...rest } = object as { spec: Record<string, unknown> };
  const { nodeName, ...unpinned } = spec;
  return { ...rest, spec: { ...unpinned, nodeSelector: { "kubernetes.io/hostname": nodeName } } };
}

/** A fault that outlives its test would be found by all that come after. */
async function nothingIsLeft(): Promise<void> {
  const left = await undo.heal(lab);
  assert.deepEqual(
    left.map(({ id }) => id),
    [],
  );
}

describe("faults", () => {
  before(async () => {
    // a and b share a node; c and d are alone on theirs.
    const placed = { a: "n0", b: "n0", c: "n1", d: "n2" };
    await apply(...Object.entries(placed).map(([name, node]) => probe(name, node)));
    await ready(namespace, "pods", "--all");
  });
  after(() => undo.heal(lab));

  describe("containers", () => {
    afterEach(nothingIsLeft);
    test("a container that is killed is started again by kubelet", async () => {
      const before = await restarts("d");
      const { containers } = await pod("d");
      await killContainer(lab, full("d"));
      await waitFor("another container", async () => ((await restarts("d")) > before ? true : undefined), {
        timeoutMs: 60_000,
      });
      const again = await waitFor("it to run", async () => (await pod("d")).containers[0], { timeoutMs: 60_000 });
      assert.notEqual(again.id, containers[0]?.id);
    });

    test("a paused container answers nothing until it is resumed, and is the same one then", async () => {
      const [asker, target] = await Promise.all([pod("a"), pod("b")]);
      await pauseContainer(lab, full("b"));
      assert.equal(await answerTime(asker, target.address), undefined);
      await undo.resumeContainer(lab, full("b"));
      await untilReaches("a", "b");
      assert.equal((await pod("b")).containers[0]?.pid, target.containers[0]?.pid);
    });
  });

  describe("network between pods", () => {
    afterEach(nothingIsLeft);
    for (const [from, to, where] of [
      ["a", "b", "on one node"],
      ["a", "c", "on two nodes"],
    ] as const)
      test(`pods ${where} that are cut from each other reach the others still`, async () => {
        const [source, target] = await Promise.all([pod(from), pod(to)]);
        await cutPods(lab, full(from), full(to));
        assert.equal(await answerTime(source, target.address), undefined);
        assert.equal(await answerTime(target, source.address), undefined);
        await untilReaches(from, "d");
        await untilReaches("d", to);
        await undo.joinPods(lab, full(to), full(from));
        await untilReaches(from, to);
      });

    test("a one-way cut lets packets pass in the other direction", async () => {
      const [source, target] = await Promise.all([pod("a"), pod("c")]);
      await cutPods(lab, full("a"), full("c"), "one-way");
      assert.equal(await datagramsThrough(source, target, 5), 0);
      assert.equal(await datagramsThrough(target, source, 5), 5);
      await undo.joinPods(lab, full("a"), full("c"));
      assert.equal(await datagramsThrough(source, target, 5), 5);
    });

    test("loss takes its share of the packets, and no more", async () => {
      const [source, target] = await Promise.all([pod("b"), pod("c")]);
      await loss(lab, { between: [full("b"), full("c")], oneWay: false }, 50);
      // 400 fair coins: outside of 120 to 280 once in 10^15 runs.
      const arrived = await datagramsThrough(source, target, 400);
      assert.ok(arrived > 120 && arrived < 280, `${arrived} of 400 arrived`);
      await undo.noLoss(lab, full("b"), full("c"));
      assert.equal(await datagramsThrough(source, target, 50), 50);
    });

    matrixTest("delay makes every packet late by its measure, in each direction", async () => {
      const [source, target] = await Promise.all([pod("a"), pod("d")]);
      await delay(lab, { between: [full("a"), full("d")], oneWay: false }, 100);
      const took = await answerTime(source, target.address, 5_000);
      // Two round trips, to connect and to ask: four times 100 ms.
      assert.ok(took !== undefined && took >= 400, `answered after ${took} ms`);
      assert.notEqual(await answerTime(source, (await pod("c")).address), undefined);
      await undo.noDelay(lab, full("a"), full("d"));
      await waitFor(
        "an answer sooner than any delayed one",
        async () => ((await answerTime(source, target.address)) ?? 400) < 400 || undefined,
        { timeoutMs: 20_000 },
      );
    });

    matrixTest(
      "loss and delay on a node's cable meet what comes and goes, but not what stays on the node",
      async () => {
        const [a, b, c] = await Promise.all([pod("a"), pod("b"), pod("c")]);
        await loss(lab, { node: "n0" }, 100);
        assert.equal(await answerTime(a, c.address), undefined);
        assert.notEqual(await answerTime(a, b.address, 5_000), undefined);
        await undo.noLoss(lab, "n0");
        await delay(lab, { node: "n0" }, 50);
        const took = await answerTime(a, c.address, 5_000);
        assert.ok(took !== undefined && took >= 200, `answered after ${took} ms`);
        await undo.noDelay(lab, "n0");
        await untilReaches("a", "c");
      },
    );
  });

  describe("disks", () => {
    afterEach(nothingIsLeft);
    test("a full volume takes nothing more until it is freed", async () => {
      await fillDisk(lab, full("a"), "memory");
      await assert.rejects(write("a", "/memory/more", "x".repeat(10_000)), { stderr: /no space left/ });
      await write("a", "/disk/more", "other volumes have room");
      await undo.freeDisk(lab, full("a"), "memory");
      await write("a", "/memory/more", "x".repeat(10_000));
    });

    test("a claimed volume can be filled, by its path in the container", async () => {
      const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "claim", namespace } };
      const resources = { requests: { storage: "300Mi" } };
      await apply(
        { ...claim, spec: { accessModes: ["ReadWriteOnce"], resources } },
        // Through the scheduler, which is who has the volume made.
        unplaced(probe("claimed", "n1", [{ name: "data", persistentVolumeClaim: { claimName: "claim" } }])),
      );
      await ready(namespace, "pod/claimed");
      await fillDisk(lab, full("claimed"), "/data");
      await assert.rejects(write("claimed", "/data/more", "x".repeat(10_000)), { stderr: /no space left/ });
      await undo.freeDisk(lab, full("claimed"));
      await write("claimed", "/data/more", "x".repeat(10_000));
    });

    test("a volume on the machine's own disk is never filled", async () => {
      await assert.rejects(fillDisk(lab, full("a"), "disk"), UsageError);
      assert.deepEqual(faultsInForce(lab), []);
    });

    test("a slow disk makes every flush wait its turn", async () => {
      const flush = "for i in 1 2 3 4 5 6; do dd if=/dev/zero of=/disk/$i bs=4k count=1 conv=fsync; done";
      await apply({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "slow", namespace },
        spec: {
          nodeName: "n2",
          terminationGracePeriodSeconds: 0,
          volumes,
          containers: [
            {
              name: "main",
              image: "docker.io/library/busybox:1.35",
              command: ["sleep", "3600"],
              volumeMounts: [{ name: "disk", mountPath: "/disk" }],
            },
          ],
        },
      });
      await ready(namespace, "pod/slow");
      // By the clock in the pod: on a busy machine it takes longer to get there than to flush.
      const flushes = async (): Promise<number> => {
        const printed = await exec(namespace, "slow", "sh", "-c", `cat /proc/uptime; ${flush}; cat /proc/uptime`);
        const [began = Number.NaN, ended = Number.NaN] = printed.trim().split("\n").map(Number.parseFloat);
        return (ended - began) * 1000;
      };
      const usual = Math.min(await flushes(), await flushes(), await flushes());
      await slowDisk(lab, full("slow"), 1);
      // Six flushes at one a second, and the first ones may pass on credit. On a busy disk each takes part of a second anyway.
      const slow = await flushes();
      assert.ok(slow >= usual + 1_000, `flushed in ${slow} ms, before in ${usual} ms`);
      await undo.fastDisk(lab, full("slow"));
      const soon = async (): Promise<true | undefined> => ((await flushes()) < slow / 2 ? true : undefined);
      await waitFor("flushes sooner than the slow ones", soon, { timeoutMs: 120_000 });
    });
  });

  describe("API server and DNS", () => {
    afterEach(nothingIsLeft);

    const lookUp = async (timeout: number): Promise<string[] | undefined> => {
      const resolver = new Resolver({ timeout, tries: 1 });
      resolver.setServers([hostAddress(lab)]);
      return resolver.resolve4("kubernetes.default.svc.cluster.local").catch(() => undefined);
    };

    test("a stopped API server answers nobody, and started again it knows what it knew", async () => {
      await stopApi(lab);
      assert.equal(await isReady(lab), false);
      assert.equal((await pod("a")).name, "a", "pods are found without it");
      await undo.startApi(lab);
      await kubectl("get", "pod", "a", `--namespace=${namespace}`);
    });

    test("a frozen API server holds its callers until it is thawed", async () => {
      await freezeApi(lab);
      assert.equal(await isReady(lab), false);
      await undo.thawApi(lab);
      await kubectl("get", "pod", "a", `--namespace=${namespace}`);
    });

    matrixTest("an API server that is restarted is another process and ready", async () => {
      const before = readDaemon(lab, "apiserver")?.pid;
      await restartApi(lab);
      assert.notEqual(readDaemon(lab, "apiserver")?.pid, before);
      assert.equal(await isReady(lab), true);
    });

    test("DNS that is stopped or frozen answers no question until it is back", async () => {
      const soon = 500;
      // A datagram may be lost, and a busy server slow.
      const answers = (): Promise<string[]> =>
        waitFor("an answer of DNS", () => lookUp(5_000), { timeoutMs: 60_000, everyMs: 50 });
      await answers();
      await stopDns(lab);
      assert.equal(await lookUp(soon), undefined);
      await undo.startDns(lab);
      await answers();
      await freezeDns(lab);
      assert.equal(await lookUp(soon), undefined);
      await undo.thawDns(lab);
      await answers();
    });

    test("DNS that caches says of a name that is there by now that it is not", async () => {
      const addressOf = async (name: string): Promise<string | undefined> => {
        const resolver = new Resolver({ timeout: 5000, tries: 3 });
        resolver.setServers([hostAddress(lab)]);
        const found = await resolver.resolve4(`${name}.${namespace}.svc.cluster.local`).catch(() => undefined);
        return found?.[0];
      };
      const service = (name: string): object => ({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name, namespace },
        spec: { selector: { app: "none" }, ports: [{ port: 80 }] },
      });
      const known = (name: string): Promise<string> =>
        waitFor(`DNS to know ${name}`, () => addressOf(name), { timeoutMs: 60_000 });
      await cacheDns(lab);
      assert.equal(await addressOf("asked-early"), undefined);
      await apply(service("asked-early"), service("asked-late"));
      await known("asked-late");
      assert.equal(await addressOf("asked-early"), undefined);
      await undo.noCacheDns(lab);
      await known("asked-early");
    });
  });

  describe("records", () => {
    afterEach(nothingIsLeft);
    test("a fault that is in force is listed and not caused twice, and healing ends all of them", async () => {
      await Promise.all([cutPods(lab, full("a"), full("c")), pauseContainer(lab, full("b")), freezeDns(lab)]);
      await assert.rejects(cutPods(lab, full("a"), full("c")), UsageError);
      const ids = faultsInForce(lab).map(({ id }) => id);
      assert.deepEqual(ids.toSorted(), [
        `cut-pods ${full("a")} ${full("c")}`,
        "freeze-dns",
        `pause-container ${full("b")} main`,
      ]);
      assert.equal((await undo.heal(lab)).length, 3);
      assert.deepEqual(faultsInForce(lab), []);
      await Promise.all([untilReaches("a", "c"), untilReaches("a", "b")]);
    });

    test("what cannot be is said in a sentence and leaves nothing in force", async () => {
      await assert.rejects(cutNode(lab, "n7"), UsageError);
      await assert.rejects(pauseContainer(lab, full("nobody")), UsageError);
      await assert.rejects(undo.joinNode(lab, "n0"), UsageError);
      assert.deepEqual(faultsInForce(lab), []);
      assert.match(helpText(), /power-off NODE .*undone by power-on/);
    });
  });

  // Both take as long as Kubernetes takes to believe it, so they run side by side, on different nodes.
  describe("nodes", { concurrency: 2 }, () => {
    after(nothingIsLeft);
    const readiness = async (name: string): Promise<string | undefined> => {
      const { status } = await kubectlJson<Node>("get", "node", name);
      return status?.conditions?.find(({ type }) => type === "Ready")?.status;
    };
    const untilNode = async (name: string, wanted: "True" | "Unknown"): Promise<void> => {
      let seen: string | undefined;
      await waitFor(
        `node ${name} to be ${wanted}`,
        async () => {
          seen = await readiness(name);
          return seen === wanted || undefined;
        },
        { timeoutMs: 180_000, everyMs: 500, lastSeen: () => seen ?? "no condition" },
      );
    };

    test("a node without power runs nothing, and comes back with its disk and without its memory", async () => {
      await write("c", "/disk/kept", "flushed");
      await write("c", "/memory/lost", "volatile");
      const node = labNodes(lab)[1]!;
      await powerOff(lab, "n1");
      assert.deepEqual(nodeProcesses(lab, node), []);
      await untilNode("n1", "Unknown");
      await undo.powerOn(lab, "n1");
      await untilNode("n1", "True");
      await ready(namespace, "pod/c");
      await untilReaches("a", "c");
      assert.equal(await read("c", "/disk/kept"), "flushed");
      await assert.rejects(read("c", "/memory/lost"), { stderr: /no such file/ });
    });

    matrixTest("a node without its cable is unknown to Kubernetes while its pods run on", async () => {
      const [asker, target] = await Promise.all([pod("a"), pod("d")]);
      await cutNode(lab, "n2");
      assert.equal(await answerTime(asker, target.address), undefined);
      assert.notEqual(await answerTime(target, target.address, 5_000), undefined);
      await untilNode("n2", "Unknown");
      await undo.joinNode(lab, "n2");
      await untilNode("n2", "True");
      await untilReaches("a", "d");
      assert.equal((await pod("d")).containers[0]?.pid, target.containers[0]?.pid);
    });
  });
});
