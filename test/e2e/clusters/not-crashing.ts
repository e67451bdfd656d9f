// A member whose container cannot be restarted because a ConfigMap or image is missing: it is not crash-looping and its data is
// intact, so it is not replaced. The reason is reported, and the member comes back when the cause is fixed.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { ConfigMap } from "../../../src/kube/objects/kinds.ts";
import { apply } from "../../support/kubectl.ts";
import { currentEtcd } from "../support/cluster.ts";
import { kube, patience } from "../support/environment.ts";
import { killUntilWaiting, removeImage, tagImage } from "../support/disruptions.ts";
import { type Lane, lane } from "../support/lane.ts";
import { conditionOf } from "../support/status.ts";
import { onlyReplaced } from "../proofs/replaced.ts";
import { followers, type HealthyMember } from "../support/healthy.ts";
import { matrixTest } from "../../support/matrix.ts";

/** In no registry, and not used by other clusters. */
const image = "registry.invalid/etcd:not-crashing";
const crashLoopAfterSeconds = 6;
const etcdEnv = [{ name: "GOGC", valueFrom: { configMapKeyRef: { name: "collection", key: "percent" } } }];

export function notCrashing(): void {
  describe("not crash-looping", { concurrency: 1 }, () => {
    const spec = { size: 3, image, pod: { etcdEnv }, failover: { crashLoopAfterSeconds } };
    const on = lane("unstarted", spec, async (namespace) => {
      await tagImage(`quay.io/coreos/etcd:v${currentEtcd}`, image);
      await apply(collection(namespace));
    });

    test("a member that restarts while its ConfigMap is missing keeps its data and comes back with the ConfigMap", async () => {
      const { cluster } = on();
      const [victim] = followers(await cluster.untilHealthy());
      assert.ok(victim);
      await comesBack(on(), victim, {
        break: () => kube.delete(ConfigMap, { namespace: cluster.namespace, name: "collection" }),
        reasons: ["CreateContainerConfigError"],
        says: [/CreateContainerConfigError/, /configmap "collection" not found/],
        fix: () => apply(collection(cluster.namespace)),
      });
    });

    // The kubelet makes the same of both.
    matrixTest(
      "a member that restarts while its image cannot be pulled keeps its data and comes back with the image",
      async () => {
        const { cluster } = on();
        const [, victim] = followers(await cluster.untilHealthy());
        assert.ok(victim);
        await comesBack(on(), victim, {
          break: () => removeImage(image, victim.node),
          reasons: ["ErrImagePull", "ImagePullBackOff"],
          says: [/ErrImagePull|ImagePullBackOff/, /spec\.repository or spec\.image/],
          fix: () => tagImage(`quay.io/coreos/etcd:v${currentEtcd}`, image),
        });
      },
    );
  });
}

interface Cause {
  readonly break: () => Promise<unknown>;
  /** The reasons of the waiting container. */
  readonly reasons: readonly string[];
  readonly says: readonly RegExp[];
  readonly fix: () => Promise<unknown>;
}

async function comesBack({ cluster, writer }: Lane, victim: HealthyMember, cause: Cause): Promise<void> {
  const before = await cluster.untilHealthy();
  try {
    await cause.break();
    await killUntilWaiting(cluster, victim.name, cause.reasons);
    await cluster.until("Ready gives the reason", (seen) => {
      const { status, message = "" } = conditionOf(seen, "Ready") ?? {};
      return status === "False" && [new RegExp(victim.name), ...cause.says].every((words) => words.test(message));
    });
    // At one write every 50 ms this is more than twice crashLoopAfterSeconds.
    await writer.progress(300);
    assert.equal((await cluster.pod(victim.name))?.metadata?.uid, victim.uid);
    const { members } = await before.leader.etcd.memberList({ linearizable: true });
    assert.deepEqual(members.map(({ id }) => id).toSorted(), before.members.map(({ id }) => id).toSorted());
  } finally {
    await cause.fix();
  }
  // Its etcd may serve before the kubelet has reported the restart.
  const after = await waitFor(
    "the container to be restarted",
    async () => {
      const now = await cluster.untilHealthy();
      return now.members.some(({ id, restarts }) => id === victim.id && restarts > victim.restarts) ? now : undefined;
    },
    { timeoutMs: patience },
  );
  onlyReplaced(before, after);
  await writer.nothingIsLost();
}

const collection = (namespace: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace, name: "collection" },
  data: { percent: "100" },
});
