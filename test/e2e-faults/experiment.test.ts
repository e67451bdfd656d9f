// The experiment of example/experiment for 45 seconds. `make chaos` does far more, with clients that record what they see.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { clusterwide, createCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { restrictedNamespace } from "../e2e/support/environment.ts";
import { installOperator } from "../e2e/support/operator.ts";
import { experiment } from "./experiment.ts";

let cluster: TestCluster;
before(async () => {
  await installOperator("clusterwide");
  const namespace = await restrictedNamespace("experiment");
  cluster = await createCluster({ namespace, name: "experiment" }, { size: 3 }, clusterwide);
  await cluster.untilHealthy();
});

test("stopping members at random, one after another, loses no acknowledged write", async (t) => {
  const before = await cluster.untilHealthy();
  const { stopped, acknowledged, verdict } = await experiment({
    ...cluster.key,
    cluster: cluster.name,
    lastsMs: 45_000,
    fewest: 2,
  });
  t.diagnostic(`${stopped} members were stopped, ${acknowledged} writes were acknowledged`);
  assert.ok(stopped >= 2, `${stopped} members were stopped`);
  assert.equal(verdict, `All ${acknowledged} acknowledged writes are there.`);
  assert.equal((await cluster.untilHealthy()).clusterId, before.clusterId);
});
