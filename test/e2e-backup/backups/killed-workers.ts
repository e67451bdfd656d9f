// Workers of a restore that are killed in the middle of their work: the one that proves the backup, and the one in the first
// member that makes its data. The store is frozen while they read, so that they are caught at it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { killContainer } from "../../../lab/faults/containers.ts";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { Pod } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { workerContainerName, restoreContainer } from "../../../src/worker/pod.ts";
import { TestCluster } from "../../e2e/support/cluster.ts";
import { kube, lab, patience, patiently } from "../../e2e/support/environment.ts";
import { memberAt } from "../../e2e/support/healthy.ts";
import { lane } from "../../e2e/support/lane.ts";
import { type Row, rowsOf } from "../../support/matrix.ts";
import { type Bucket, startBucket } from "../support/bucket.ts";
import { backUp, restore, untilBackedUp, untilRestore, untilRestored } from "../support/objects.ts";

type Way = "deleted" | "killed";

interface Case extends Row {
  readonly check: Way;
  readonly seed: Way;
}

const cases: readonly Case[] = [
  { check: "deleted", seed: "killed" },
  { check: "killed", seed: "deleted", onlyInMatrix: true },
];

export function killedWorkers(): void {
  describe("a restore whose workers are killed", { concurrency: 1 }, () => {
    // Its own: the server is frozen here.
    let started: Bucket | undefined;
    const bucket = (): Bucket => started ?? assert.fail("the bucket has not been started");
    const on = lane("killed-workers", { size: 1 }, async (namespace) => {
      started = await startBucket();
      await started.open(namespace);
    });
    let written: ReadonlyMap<string, string> = new Map();

    test("has a backup to read", async () => {
      const { cluster, writer } = on();
      const { namespace, name } = cluster;
      await writer.progress(20);
      written = writer.soFar();
      const store = { storageType: "S3", s3: bucket().at(`${namespace}/saved`) } as const;
      await backUp({ namespace, name: "saved" }, { clusterRef: { name }, ...store });
      await untilBackedUp({ namespace, name: "saved" });
    });

    for (const { check, seed } of rowsOf(cases))
      test(`ends well when the first is ${check} and the second is ${seed}`, async () => {
        const { writer } = on();
        const copy = await restoredWhileKilled(check, seed);
        const { status } = await untilRestored(copy.key);
        const { leader, clusterId } = await copy.untilHealthy();
        assert.equal(status?.clusterId, clusterId);
        const { keys } = await memberAt(leader.address).list(writer.prefix, {}, patiently);
        const there = new Map(keys.map(({ key, value }) => [key, Buffer.from(value).toString()]));
        for (const [key, value] of written) assert.equal(there.get(key), value, key);
      });

    /** A first member may have made its data before the store is frozen again: then it is tried with another cluster. */
    async function restoredWhileKilled(check: Way, seed: Way): Promise<TestCluster> {
      const { namespace } = on().cluster;
      for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
        const copy = new TestCluster({ namespace, name: `${check}-${seed}-${attempt}` });
        using frozen = new Frozen(bucket().server.pid);
        await restore(copy.key, {
          etcdCluster: { name: copy.name },
          backup: { name: "saved" },
          clusterSpec: { size: 1, version: "3.6.16" },
        });
        const worker = await untilRuns(namespace, `etcd_restore=${copy.name}`, workerContainerName);
        assert.ok(worker !== "over", "a check was made while the store was frozen");
        await end(check, worker);
        frozen.thaw();
        await untilRestore(copy.key, "the cluster to be made", ({ status }) => status?.phase === "Restoring", 20);
        frozen.freeze();
        const first = await untilRuns(namespace, `etcd_cluster=${copy.name}`, restoreContainer);
        if (first !== "over") {
          await end(seed, first);
          return copy;
        }
        await kube.delete(EtcdCluster, copy.key);
      }
      return assert.fail(`the first of ${mostAttempts} members had each made its data before the store was frozen`);
    }
  });
}

const mostAttempts = 5;

interface Running extends Key {
  readonly container: string;
}

/** Waits until this container runs in a pod with this label, or has ended its work before that was seen. */
async function untilRuns(namespace: string, labelSelector: string, container: string): Promise<Running | "over"> {
  let seen: unknown;
  return waitFor(
    `the container ${container} of a pod ${labelSelector}`,
    async () => {
      const { items } = await kube.list(Pod, { namespace, labelSelector });
      const states = items.flatMap(({ metadata, status }) =>
        [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
          .filter(({ name }) => name === container)
          .map(({ state }) => ({ name: metadata?.name ?? "", state })),
      );
      seen = states;
      if (states.some(({ state }) => state?.terminated?.exitCode === 0)) return "over";
      const running = states.find(({ state }) => state?.running !== undefined);
      return running && { namespace, name: running.name, container };
    },
    { timeoutMs: patience, everyMs: 50, lastSeen: () => JSON.stringify(seen) },
  );
}

async function end(way: Way, { container, ...pod }: Running): Promise<void> {
  if (way === "killed") await killContainer(lab, `${pod.namespace}/${pod.name}`, container);
  else await kube.delete(Pod, pod, { gracePeriodSeconds: 0 });
}

/** A process that is stopped until it is thawed. */
class Frozen implements Disposable {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
    this.freeze();
  }

  freeze(): void {
    process.kill(this.#pid, "SIGSTOP");
  }

  thaw(): void {
    process.kill(this.#pid, "SIGCONT");
  }

  [Symbol.dispose](): void {
    this.thaw();
  }
}
