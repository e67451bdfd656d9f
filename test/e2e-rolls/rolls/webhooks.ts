// A registry mirror, by a webhook that rewrites the images of pods: members run what it makes of them, go to another version,
// and come to rest.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { Pod } from "../../../src/kube/objects/kinds.ts";
import { kube, patience } from "../../e2e/support/environment.ts";
import { tagImage } from "../../e2e/support/disruptions.ts";
import { lane } from "../../e2e/support/lane.ts";
import { sameProcesses } from "../../e2e/proofs/replaced.ts";
import { untilRolled } from "../../e2e/proofs/rolled.ts";
import { conditionOf } from "../../e2e/support/status.ts";
import { type MirrorWebhook, mirrorWebhook } from "../support/mirror-webhook.ts";

const [old, next] = ["3.5.21", "3.5.35"];
const registry = "quay.io/coreos/etcd";
const mirror = "mirror.lab.local/etcd";

export function webhooks(): void {
  describe("a webhook that rewrites images", { concurrency: 1 }, () => {
    let webhook: MirrorWebhook | undefined;
    const on = lane("mirrored", { size: 3, version: old }, async (namespace) => {
      for (const version of [old, next]) await tagImage(`${registry}:v${version}`, `${mirror}:v${version}`);
      webhook = await mirrorWebhook(namespace, (image) => image.replace(registry, mirror), `${registry}:v${old}`);
    });
    after(() => webhook?.[Symbol.asyncDispose]());

    test("the cluster is Ready, goes to another version, and then nothing is made or changed any more", async () => {
      const { cluster, writer } = on();
      await cluster.until("it is Ready", (seen) => conditionOf(seen, "Ready")?.status === "True");
      assert.ok(webhook);
      assert.equal(
        new Set(webhook.made).size,
        3,
        `three members, and none in the place of another: ${webhook.made.join()}`,
      );
      await cluster.edit({ version: next });
      const rolled = await untilRolled(cluster);
      assert.deepEqual(
        new Set((await cluster.pods()).map(({ spec }) => spec?.containers[0]?.image)),
        new Set([`${mirror}:v${next}`]),
        "the kubelets run what the webhook made of it",
      );
      assert.ok(new Set(webhook.made).size <= 6, `and a try of the image on each node: ${webhook.made.join()}`);
      await cluster.until("it is Ready", (seen) => conditionOf(seen, "Ready")?.status === "True");
      const made = [...webhook.made];
      await writer.progress(100);
      assert.deepEqual([...webhook.made], made);
      sameProcesses(rolled, await cluster.untilHealthy());
      const pods = async (): Promise<Pod[]> => (await kube.list(Pod, { namespace: cluster.namespace })).items;
      await waitFor("the small pods that tried it to be gone", async () => (await pods()).length === 3 || undefined, {
        timeoutMs: patience,
      });
      await writer.nothingIsLost();
    });
  });
}
