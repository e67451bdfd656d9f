// A registry mirror, by a webhook that rewrites the images of pods: members run what it makes of them, go to another version,
// and come to rest.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Pod } from "../../../src/kube/objects/kinds.ts";
import { kube } from "../../e2e/support/environment.ts";
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
      webhook = await mirrorWebhook(namespace, (image) => image.replace(registry, mirror));
    });
    after(() => webhook?.[Symbol.asyncDispose]());

    test("the cluster is Ready, goes to another version, and then nothing is made or changed any more", async () => {
      const { cluster, writer } = on();
      await cluster.until("it is Ready", (seen) => conditionOf(seen, "Ready")?.status === "True");
      assert.equal(webhook?.rewrites.CREATE, 3, "three pods were made, and none for a second time");
      await cluster.edit({ version: next });
      const rolled = await untilRolled(cluster);
      const pods = await cluster.pods();
      assert.deepEqual(
        new Set(pods.map(({ spec }) => spec?.containers[0]?.image)),
        new Set([`${mirror}:v${next}`]),
        "the kubelets run what the webhook made of it",
      );
      assert.ok(webhook.rewrites.CREATE <= 6, `${webhook.rewrites.CREATE} pods: a try of the image on each node, once`);
      await cluster.until("it is Ready", (seen) => conditionOf(seen, "Ready")?.status === "True");
      const made = webhook.rewrites.CREATE;
      await writer.progress(200);
      assert.equal(webhook.rewrites.CREATE, made);
      sameProcesses(rolled, await cluster.untilHealthy());
      const { items } = await kube.list(Pod, { namespace: cluster.namespace });
      assert.equal(items.length, 3, "the small pods that tried it are gone");
      await writer.nothingIsLost();
    });
  });
}
