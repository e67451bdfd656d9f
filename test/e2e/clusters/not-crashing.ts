// A member whose process ended and cannot be started again for a reason outside of it: its data is intact, so it is not
// taken for one that crashes, the reason is told, and it comes back as it was when that is mended.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ConfigMap } from "../../../src/kube/objects/kinds.ts";
import { apply } from "../../support/kubectl.ts";
import { currentEtcd } from "../support/cluster.ts";
import { kube } from "../support/ground.ts";
import { killUntilWaiting, removeImage, tagImage } from "../support/harm.ts";
import { type Lane, lane } from "../support/lane.ts";
import { conditionOf } from "../support/status.ts";
import { othersStay } from "../support/stay.ts";
import { followers, type WholeMember } from "../support/whole.ts";

/** No registry has it, and no other cluster uses it. */
const image = "registry.invalid/etcd:not-crashing";
const crashLoopAfterSeconds = 2;
const etcdEnv = [{ name: "GOGC", valueFrom: { configMapKeyRef: { name: "collection", key: "percent" } } }];

export function notCrashing(): void {
  describe("not crashing", { concurrency: 1 }, () => {
    const spec = { size: 3, image, pod: { etcdEnv }, failover: { crashLoopAfterSeconds } };
    const on = lane("unstarted", spec, async (namespace) => {
      await tagImage(`quay.io/coreos/etcd:v${currentEtcd}`, image);
      await apply(collection(namespace));
    });

    test("a member that restarts while its ConfigMap is missing keeps its data and comes back with the ConfigMap", async () => {
      const { cluster } = on();
      const [victim] = followers(await cluster.whole());
      assert.ok(victim);
      await comesBack(on(), victim, {
        breakIt: () => kube.delete(ConfigMap, { namespace: cluster.namespace, name: "collection" }),
        reasons: ["CreateContainerConfigError"],
        says: [/CreateContainerConfigError/, /configmap "collection" not found/],
        mendIt: () => apply(collection(cluster.namespace)),
      });
    });

    test("a member that restarts while its image cannot be pulled keeps its data and comes back with the image", async () => {
      const { cluster } = on();
      const [, victim] = followers(await cluster.whole());
      assert.ok(victim);
      await comesBack(on(), victim, {
        breakIt: () => removeImage(image, victim.node),
        reasons: ["ErrImagePull", "ImagePullBackOff"],
        says: [/ErrImagePull|ImagePullBackOff/, /spec\.repository or spec\.image/],
        mendIt: () => tagImage(`quay.io/coreos/etcd:v${currentEtcd}`, image),
      });
    });
  });
}

interface Hindrance {
  readonly breakIt: () => Promise<unknown>;
  /** Of the container that waits. */
  readonly reasons: readonly string[];
  readonly says: readonly RegExp[];
  readonly mendIt: () => Promise<unknown>;
}

async function comesBack({ cluster, writer }: Lane, victim: WholeMember, hindrance: Hindrance): Promise<void> {
  const before = await cluster.whole();
  try {
    await hindrance.breakIt();
    await killUntilWaiting(cluster, victim.name, hindrance.reasons);
    await cluster.until("the reason is told", (seen) => {
      const { status, message = "" } = conditionOf(seen, "Ready") ?? {};
      return status === "False" && [new RegExp(victim.name), ...hindrance.says].every((words) => words.test(message));
    });
    // Far longer than a crash loop may take: a write every 50 ms.
    await writer.progress(150);
    assert.equal((await cluster.pod(victim.name))?.metadata?.uid, victim.uid);
    const { members } = await before.leader.etcd.memberList({ linearizable: true });
    assert.deepEqual(members.map(({ id }) => id).toSorted(), before.members.map(({ id }) => id).toSorted());
  } finally {
    await hindrance.mendIt();
  }
  const after = await cluster.whole();
  othersStay(before, after);
  assert.ok(
    (after.members.find(({ id }) => id === victim.id)?.restarts ?? 0) > victim.restarts,
    "it was started again",
  );
  await writer.nothingIsLost();
}

const collection = (namespace: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace, name: "collection" },
  data: { percent: "100" },
});
