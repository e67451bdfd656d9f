// What people get wrong: each mistake is told in a sentence, is healed when it is corrected, and hurts no other cluster. A
// cluster with a writer stands beside all of it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { forbiddenPods } from "./bad-inputs/forbidden.ts";
import { invalidSpecs } from "./bad-inputs/invalid.ts";
import { badPods } from "./bad-inputs/pods.ts";
import { refusedByTheServer } from "./bad-inputs/refused.ts";
import { servingClusters } from "./bad-inputs/serving.ts";
import { wrongStatuses } from "./bad-inputs/statuses.ts";
import { takenNames } from "./bad-inputs/taken.ts";
import type { TestCluster } from "./support/cluster.ts";
import { lane } from "./support/lane.ts";
import { installOperator } from "./support/operator.ts";
import { Vigil } from "./support/vigil.ts";
import type { Whole } from "./support/whole.ts";

describe("bad inputs", { concurrency: 1 }, () => {
  before(async () => {
    await installOperator("clusterwide");
  });
  const bystander = lane("bystander", { size: 3 });
  let vigil: Vigil | undefined;
  let readySince: string[] = [];
  before(async () => {
    const { cluster } = bystander();
    // A kubelet may tell it some seconds after the members serve.
    await cluster.until("all pods are ready", ({ status }) => status?.members?.ready?.length === 3);
    readySince = await podsReadySince(cluster);
    vigil = new Vigil(cluster);
  });
  after(() => vigil?.end());

  // More at once would only wait for two cores.
  describe("each", { concurrency: 6 }, () => {
    servingClusters();
    badPods();
    forbiddenPods();
    takenNames();
    wrongStatuses();
    refusedByTheServer();
    invalidSpecs();
  });

  test("a cluster beside them has kept its members and its data, and was ready all the time", async () => {
    const { cluster, first, writer } = bystander();
    const last = await cluster.whole();
    assert.deepEqual(membersOf(last), membersOf(first));
    // On a machine that is busy otherwise a member may be late for one look of the operator's, which tells it. Whether it
    // served is what its kubelet says, which asks more patiently.
    const setbacks = await vigil?.end();
    assert.deepEqual(
      setbacks?.filter((setback) => !setback.startsWith("MembersUnhealthy")),
      [],
    );
    assert.deepEqual(await podsReadySince(cluster), readySince);
    await writer.nothingIsLost();
  });
});

/** Of each pod by name: since when, without a break. */
async function podsReadySince(cluster: TestCluster): Promise<string[]> {
  const since = (await cluster.pods()).map(({ metadata, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    return `${metadata?.name} ${ready?.status} since ${ready?.lastTransitionTime}`;
  });
  return since.toSorted();
}

const membersOf = ({ members }: Whole): object[] => members.map(({ id, uid, restarts }) => ({ id, uid, restarts }));
