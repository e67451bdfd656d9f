// The experiment that people are shown, for three quarters of a minute; `make chaos` does the same for five minutes.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { clusterwide, makeCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { restrictedNamespace } from "../e2e/support/ground.ts";
import { installOperator } from "../e2e/support/operator.ts";
import { experiment } from "./experiment.ts";

let cluster: TestCluster;
before(async () => {
  await installOperator("clusterwide");
  const namespace = await restrictedNamespace("experiment");
  cluster = await makeCluster({ namespace, name: "experiment" }, { size: 3 }, clusterwide);
  await cluster.whole();
});

test("members that are stopped at random, one after another, cost no acknowledged write", async (t) => {
  const before = await cluster.whole();
  const { stopped, acknowledged, verdict } = await experiment({
    ...cluster.key,
    cluster: cluster.name,
    lastsMs: 45_000,
  });
  t.diagnostic(`${stopped} members were stopped, ${acknowledged} writes were acknowledged`);
  assert.ok(stopped >= 2, `${stopped} members were stopped`);
  assert.equal(verdict, `All ${acknowledged} acknowledged writes are there.`);
  assert.equal((await cluster.whole()).clusterId, before.clusterId);
});
