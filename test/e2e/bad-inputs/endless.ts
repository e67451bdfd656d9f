// An image that answers gRPC without end: its own cluster is reported, the operator stays small and leads on, and another
// cluster is made meanwhile. The bystander of all bad inputs shows that nothing else suffers either.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { seconds, waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { etcdContainer } from "../../../src/cluster/objects/member-pod.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import { endlessImage, loadEndlessImage } from "../endless/image.ts";
import { currentEtcd, type TestCluster } from "../support/cluster.ts";
import { kube, lab, patience } from "../support/environment.ts";
import { type Operator, valueOf } from "../support/operator.ts";
import { conditionOf } from "../support/status.ts";
import { applyCluster, sharedNamespace } from "./bad-case.ts";

/** Two, so that they are asked at the same time. */
const names = ["endless-a", "endless-b"];
/** The limit of its container is 256 MiB; each answer offers 300. */
const mostMemory = 200 << 20;
/** Enough for each kind of endlessness to have come several times. */
const mostlyAsked = 20;

export function endlessAnswers(operator: () => Operator): void {
  test("an image that answers gRPC without end is reported, and costs the operator neither memory nor its other clusters", async (context) => {
    await loadEndlessImage(lab);
    const namespace = await sharedNamespace();
    const before = await processOf(operator());
    const memory = new MemoryWatch(operator());
    // Its CPU is for the others.
    const pod = { resources: { limits: { cpu: "200m", memory: "256Mi" } } };
    const spec = { size: 1, version: currentEtcd, image: endlessImage, pod };
    const hostile = await Promise.all(names.map((name) => applyCluster({ namespace, name }, spec)));
    try {
      await Promise.all(hostile.map((cluster) => cluster.untilPodsReady()));

      const began = Date.now();
      const neighbour = await applyCluster({ namespace, name: "beside-endless" }, { size: 1, version: currentEtcd });
      await neighbour.untilHealthy();
      context.diagnostic(`a neighbour was healthy after ${seconds(Date.now() - began)}`);
      await kube.delete(EtcdCluster, neighbour.key);

      for (const cluster of hostile) {
        await cluster.until("it is reported as no etcd", (seen) => {
          const { status, reason, message = "" } = conditionOf(seen, "Ready") ?? {};
          return (
            status === "False" &&
            reason === "MembersUnreachable" &&
            message.includes("answers, but not as etcd does") &&
            message.includes("Set spec.image") &&
            message.length < 2000
          );
        });
        let calls: string[] = [];
        await waitFor(
          `${cluster.name} to have been asked ${mostlyAsked} times`,
          async () => {
            calls = await callsOf(cluster);
            return calls.length >= mostlyAsked || undefined;
          },
          { timeoutMs: patience, everyMs: 500, lastSeen: () => calls.join("\n") },
        );
      }
    } finally {
      await Promise.all(hostile.map(({ key }) => kube.delete(EtcdCluster, key)));
    }
    const most = await memory.end();
    context.diagnostic(`the operator had ${mebibytes(most)} at most`);
    assert.ok(most > 0 && most < mostMemory, `the operator had ${mebibytes(most)}`);
    assert.deepEqual(await processOf(operator()), before, "the operator was restarted, or another one leads");
  });
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

/** What it was asked, and how it answered. */
async function callsOf(cluster: TestCluster): Promise<string[]> {
  const [pod] = await cluster.pods();
  const key = { namespace: cluster.namespace, name: pod?.metadata?.name ?? "" };
  const log = await kube.log(key, { container: etcdContainer, limitBytes: 1 << 20 });
  return log.split("\n").filter((line) => line.startsWith("/etcdserverpb."));
}

async function processOf(operator: Operator): Promise<object> {
  const { metadata, status }: Pod = await operator.leader();
  return { uid: metadata?.uid, restarts: status?.containerStatuses?.[0]?.restartCount };
}

/** Reads the memory of the leader four times a second. */
class MemoryWatch {
  readonly #ended: Promise<number>;
  #goesOn = true;

  constructor(operator: Operator) {
    this.#ended = this.#watch(operator);
  }

  /** The most that was seen, in bytes. */
  end(): Promise<number> {
    this.#goesOn = false;
    return this.#ended;
  }

  async #watch(operator: Operator): Promise<number> {
    const leader = await operator.leader();
    let most = 0;
    while (this.#goesOn) {
      // One that does not answer is found by its restarts.
      const metrics = await operator.metrics(leader).catch(() => "");
      most = Math.max(most, valueOf(metrics, "process_resident_memory_bytes"));
      await delay(250);
    }
    return most;
  }
}
