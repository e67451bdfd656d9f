// EtcdClusters that the API server accepts and only the operator can reject: it reports InvalidSpec and creates nothing until
// they are corrected.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { badClusters } from "../../../src/api/etcd-cluster/testing/bad-clusters.ts";
import { isMatrix } from "../../support/matrix.ts";
import { kube } from "../support/environment.ts";
import { applyCluster, healed, sharedNamespace, untilReported } from "./bad-case.ts";
import { correctedSpec } from "./corrected.ts";

/** `make matrix` corrects all of them. */
const corrected: ReadonlySet<string> = new Set(["an etcd that is too old", "a claim without a size"]);

export function invalidSpecs(): void {
  for (const [index, bad] of badClusters.entries()) {
    if (bad.server === undefined || bad.server.says !== undefined) continue;
    const { what, spec, problems } = bad;
    const isCorrected = isMatrix || corrected.has(what);
    test(`an EtcdCluster with ${what} is reported as InvalidSpec${isCorrected ? ", and runs when it is corrected" : ""}`, async (context) => {
      const key = { namespace: await sharedNamespace(), name: `invalid-${index}` };
      const cluster = await applyCluster(key, spec as object);
      await untilReported(cluster, { reason: "InvalidSpec", says: problems });
      assert.deepEqual(await cluster.pods(), []);
      if (isCorrected) await healed(context, cluster, () => applyCluster(key, correctedSpec(bad)));
      await kube.delete(EtcdCluster, key);
    });
  }
}
