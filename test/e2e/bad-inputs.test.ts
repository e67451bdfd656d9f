// Bad inputs: each mistake is reported with what to do, the cluster runs when it is corrected, and no other cluster is
// affected. A bystander cluster with a writer runs beside all of them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { endlessAnswers } from "./bad-inputs/endless.ts";
import { forbiddenPods } from "./bad-inputs/forbidden.ts";
import { invalidSpecs } from "./bad-inputs/invalid.ts";
import { badPods } from "./bad-inputs/pods.ts";
import { refusedByTheServer } from "./bad-inputs/refused.ts";
import { servingClusters } from "./bad-inputs/serving.ts";
import { wrongStatuses } from "./bad-inputs/statuses.ts";
import { takenNames } from "./bad-inputs/taken.ts";
import type { TestCluster } from "./support/cluster.ts";
import { lane } from "./support/lane.ts";
import { installOperator, type Operator } from "./support/operator.ts";
import { ReadyWatch } from "./proofs/ready-watch.ts";
import type { HealthyCluster } from "./support/healthy.ts";

describe("bad inputs", { concurrency: 1 }, () => {
  let operator: Operator | undefined;
  before(async () => {
    operator = await installOperator("clusterwide");
  });
  const bystander = lane("bystander", { size: 3 });
  let watch: ReadyWatch | undefined;
  let readySince: string[] = [];
  before(async () => {
    const { cluster } = bystander();
    // The kubelets report it some seconds after the members serve.
    await cluster.until("all pods are ready", ({ status }) => status?.members?.ready?.length === 3);
    readySince = await podsReadySince(cluster);
    watch = new ReadyWatch(cluster);
  });
  after(() => watch?.end());

  // More would only wait for the two cores.
  describe("each", { concurrency: 4 }, () => {
    endlessAnswers(() => {
      assert.ok(operator);
      return operator;
    });
    servingClusters();
    badPods();
    forbiddenPods();
    takenNames();
    wrongStatuses();
    refusedByTheServer();
    invalidSpecs();
  });

  test("the bystander kept its members and its data, and was ready all the time", async () => {
    const { cluster, first, writer } = bystander();
    const last = await cluster.untilHealthy();
    assert.deepEqual(membersOf(last), membersOf(first));
    // On a busy machine members may miss one health check of the operator, and the leader a heartbeat: the operator reports
    // that. The kubelet's probes are more patient.
    const setbacks = await watch?.end();
    const isSlowness = /^(MembersUnhealthy|Electing|QuorumLost|LeadersDisagree|ServiceNotReady):/;
    assert.deepEqual(
      setbacks?.filter((setback) => !isSlowness.test(setback)),
      [],
    );
    assert.deepEqual(await podsReadySince(cluster), readySince);
    await writer.nothingIsLost();
  });
});

/** Since when each pod has been ready, without a break. */
async function podsReadySince(cluster: TestCluster): Promise<string[]> {
  const since = (await cluster.pods()).map(({ metadata, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    return `${metadata?.name} ${ready?.status} since ${ready?.lastTransitionTime}`;
  });
  return since.toSorted();
}

const membersOf = ({ members }: HealthyCluster): object[] =>
  members.map(({ id, uid, restarts }) => ({ id, uid, restarts }));
