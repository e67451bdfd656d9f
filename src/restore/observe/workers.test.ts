import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodStatus } from "kubernetes-types/core/v1.js";
import { EtcdRestore, withDefaults } from "../../api/etcd-restore/etcd-restore.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import { observedWorker } from "./workers.ts";

const restore = withDefaults({
  metadata: { name: "demo", namespace: "shop", uid: "u" },
  spec: { etcdCluster: { name: "demo" } },
});
const terminated = (message?: string) => ({ exitCode: 137, ...(message !== undefined && { message }) });

function seen(status: PodStatus, message?: string) {
  const containerStatuses = [{ name: "worker", state: { terminated: terminated(message) } }];
  const metadata = { name: "w", namespace: "shop", ownerReferences: [ownerReference(EtcdRestore, restore)] };
  return observedWorker(restore, "w", { metadata, status: { containerStatuses, ...status } } as never, 0);
}

test("a worker that Kubernetes evicted for its scratch volume says what to raise", () => {
  const message = 'Usage of EmptyDir volume "scratch" exceeds the limit "32768Mi". ';
  assert.deepEqual(seen({ phase: "Failed", reason: "Evicted", message }), {
    t: "lost",
    pod: "w",
    because: `The pod w was terminated (Evicted: ${message.trim()}). Raise spec.worker.scratchSize.`,
  });
});

test("a worker that said why it failed is believed", () => {
  const result = { ok: false, code: "damaged", message: "It is damaged." } as const;
  for (const status of [{ phase: "Failed" }, { phase: "Running", reason: "NodeLost" }])
    assert.deepEqual(seen(status, JSON.stringify(result)), { t: "ended", pod: "w", result });
});
