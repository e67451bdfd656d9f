// All pods of a cluster are deleted at once, with and without an operator: its members come back on their volumes.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { Pod } from "../../../src/kube/objects/kinds.ts";
import { kube, patience } from "../../e2e/support/environment.ts";
import { kubectl } from "../../support/kubectl.ts";
import { currentKind, KeptClusters } from "../support/kept-clusters.ts";
import { onlyReturned, untilReturned } from "../support/returned.ts";

export function allPods(): void {
  describe("all pods at once", { concurrency: 1 }, () => {
    let kept: KeptClusters;
    before(async () => {
      // inherited.ts deletes all pods of one without learners.
      kept = await KeptClusters.create("all-pods", currentKind);
    });
    after(() => kept?.stop());

    test("deleted while no operator runs, they come back with the next one: same members, every key, nothing is bootstrapped again", async () => {
      await kept.withoutOperator(async () => {
        await kubectl("delete", "pods", "--all", `--namespace=${kept.namespace}`);
        await noPods(kept.namespace);
      });
      await kept.allReturn();
    });

    test("deleted under an operator, they come back at once", async () => {
      const { cluster } = kept.current;
      const before = await cluster.untilHealthy();
      await kubectl("delete", "pods", "--all", `--namespace=${kept.namespace}`, "--wait=false");
      const names = before.members.map(({ name }) => name);
      const after = await kept.during(untilReturned(cluster, before, ...names));
      onlyReturned(before, after, ...names);
      await kept.allReturn();
      assert.deepEqual(
        (await cluster.events()).filter(({ reason }) => reason === "Member Removed").map(({ note }) => note),
        [],
      );
    });
  });
}

async function noPods(namespace: string): Promise<void> {
  await waitFor("no pods", async () => (await kube.list(Pod, { namespace })).items.length === 0 || undefined, {
    timeoutMs: patience,
  });
}
