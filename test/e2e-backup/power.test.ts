// The node of a restored member loses its power: the member comes back with what was written since, and is not restored a
// second time.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { powerOff } from "../../lab/faults/power.ts";
import { heal, powerOn } from "../../lab/faults/undo.ts";
import { waitFor } from "../../lab/progress.ts";
import { Pod } from "../../src/kube/objects/kinds.ts";
import { TestCluster } from "../e2e/support/cluster.ts";
import { kube, lab, patience, patiently, restrictedNamespace } from "../e2e/support/environment.ts";
import { memberAt } from "../e2e/support/healthy.ts";
import { nodesReady } from "../e2e/support/nodes.ts";
import { installOperator } from "../e2e/support/operator.ts";
import { createCluster, clusterwide } from "../e2e/support/cluster.ts";
import { type Bucket, startBucket } from "./support/bucket.ts";
import { backUp, restore, untilBackedUp, untilRestored } from "./support/objects.ts";

describe("a restored member whose node restarts", () => {
  let bucket: Bucket;
  before(async () => {
    bucket = await startBucket();
    await installOperator("clusterwide");
  });
  after(async () => {
    await heal(lab);
    await nodesReady();
  });

  test("has what was written since, in the same pod", async () => {
    const namespace = await restrictedNamespace("restart");
    await bucket.open(namespace);
    const cluster = await createCluster({ namespace, name: "origin" }, { size: 1 }, clusterwide);
    await cluster.untilHealthy();
    const store = { storageType: "S3", s3: bucket.at(`${namespace}/once`) } as const;
    await backUp({ namespace, name: "once" }, { clusterRef: { name: "origin" }, ...store });
    await untilBackedUp({ namespace, name: "once" });
    const to = { etcdCluster: { name: "copy" }, backup: { name: "once" }, clusterSpec: { size: 1, version: "3.6.16" } };
    await restore({ namespace, name: "copy-it" }, to);
    await untilRestored({ namespace, name: "copy-it" });
    const copy = new TestCluster({ namespace, name: "copy" });
    const first = await copy.untilHealthy();
    await first.leader.etcd.put("/since", "kept", patiently);
    const [seed] = await copy.pods();
    assert.equal(seed?.spec?.initContainers?.length, 1);
    await powerOff(lab, seed.spec.nodeName ?? "");
    await powerOn(lab, seed.spec.nodeName ?? "");
    await nodesReady();
    const again = await copy.untilHealthy();
    assert.equal(again.clusterId, first.clusterId);
    const [pod] = await copy.pods();
    assert.equal(pod?.metadata?.uid, seed.metadata?.uid);
    const there = await memberAt(pod?.status?.podIP ?? "", undefined).get("/since", {}, patiently);
    assert.equal(Buffer.from(there?.value ?? "").toString(), "kept");
    // The kubelet may report it after the member serves.
    const said = await waitFor(
      "the end of the init container",
      async () => {
        const live = await kube.get(Pod, { namespace, name: pod?.metadata?.name ?? "" });
        return live.status?.initContainerStatuses?.[0]?.state?.terminated?.message;
      },
      { timeoutMs: patience },
    );
    assert.match(said, /"restored":(true|false)/);
  });
});
