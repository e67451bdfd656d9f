// Workers of a restore that are killed in the middle of their work: the one that proves the backup, and the one in the first
// member that makes its data. The store is frozen while they read, so that they are caught at it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { killContainer } from "../../../lab/faults/containers.ts";
import { waitFor } from "../../../lab/progress.ts";
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
        const { cluster, writer } = on();
        const { namespace } = cluster;
        const copy = new TestCluster({ namespace, name: `${check}-${seed}` });
        using frozen = new Frozen(bucket().server.pid);
        await restore(copy.key, {
          etcdCluster: { name: copy.name },
          backup: { name: "saved" },
          clusterSpec: { size: 1, version: "3.6.16" },
        });
        await end(check, await untilRuns(namespace, `etcd_restore=${copy.name}`, workerContainerName));
        frozen.thaw();
        await untilRestore(copy.key, "the cluster to be made", ({ status }) => status?.phase === "Restoring");
        frozen.freeze();
        await end(seed, await untilRuns(namespace, `etcd_cluster=${copy.name}`, restoreContainer));
        frozen.thaw();
        const { status } = await untilRestored(copy.key);
        const { leader, clusterId } = await copy.untilHealthy();
        assert.equal(status?.clusterId, clusterId);
        const { keys } = await memberAt(leader.address).list(writer.prefix, {}, patiently);
        const there = new Map(keys.map(({ key, value }) => [key, Buffer.from(value).toString()]));
        for (const [key, value] of written) assert.equal(there.get(key), value, key);
      });
  });
}

interface Running extends Key {
  readonly container: string;
}

/** Waits until this container runs in a pod with this label. */
async function untilRuns(namespace: string, labelSelector: string, container: string): Promise<Running> {
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
