// How a reconcile is counted, and what it took. The cluster is paused, so that nothing is done but to observe and to report.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { ApiError } from "../kube/client/errors.ts";
import { silent } from "../kube/process/log.ts";
import { Registry } from "../kube/process/metrics.ts";
import { RefusedUpkeep } from "./act/refused-upkeep.ts";
import { TakenAway } from "./act/taken-away.ts";
import { ClusterMetrics } from "./metrics.ts";
import { Logins } from "./observe/login.ts";
import { Progress } from "./observe/progress.ts";
import { Wire } from "./observe/wire.ts";
import { done } from "../kube/controller/run-reconcile.ts";
import { reconcileCluster } from "./reconcile.ts";
import { sampleCluster, sampleNow } from "./testing/sample-world.ts";

const missing = new ApiError(404, "NotFound", "");
const down = new ApiError(500, "InternalError", "");
const paused = sampleCluster({ unrecorded: true, spec: { paused: true } });

/** What is counted of one that takes two seconds; `asked` and `written`: how the server answers. */
async function counted(stored: EtcdCluster | undefined, asked = missing, written?: Error): Promise<string[]> {
  const registry = new Registry();
  const empty = { get: () => undefined, ownedBy: () => [], byIndex: () => [] };
  const caches = {
    clusters: { get: () => stored },
    pods: empty,
    claims: empty,
    services: empty,
    budgets: empty,
    nodes: undefined,
    secrets: empty,
    given: { read: () => Promise.resolve(undefined) },
  };
  const context = {
    caches: () => caches,
    logins: new Logins(() => 0),
    progress: new Progress(),
    wire: new Wire(() => Promise.resolve(undefined)),
    refusedUpkeep: new RefusedUpkeep(),
    takenAway: new TakenAway(),
    isOurs: () => true,
    unclaimed: { leave: () => Promise.resolve(done) },
    metrics: new ClusterMetrics(registry),
    events: { record: () => undefined },
    log: silent,
    now: () => sampleNow,
  };
  const times = [1000, 3000];
  const api = {
    get: () => Promise.reject(asked),
    mergePatch: () => (written === undefined ? Promise.resolve({}) : Promise.reject(written)),
  };
  const pass = { api, clock: { now: () => times.shift() }, signal: new AbortController().signal, id: "1" };
  await reconcileCluster({ namespace: "shop", name: "demo" }, pass as never, context as never).catch((error: unknown) =>
    assert.equal(error, down),
  );
  const samples = registry
    .text()
    .matchAll(/^etcd_operator_cluster_reconcile_(duration_sum|duration_count|failed).* .*$/gm);
  return [...samples].map(([sample]) => sample.replace("etcd_operator_cluster_reconcile_", ""));
}

test("a reconcile that ends well counts with the seconds that it took", async () => {
  assert.deepEqual(await counted(paused), ["duration_sum 2", "duration_count 1"]);
});

test("a reconcile of a cluster that is not there counts for nothing", async () => {
  assert.deepEqual(await counted(undefined), []);
});

test("a reconcile that could not see, or could not report, counts as failed", async () => {
  assert.deepEqual(await counted(paused, down), ['failed{Reason="failed"} 1']);
  assert.deepEqual(await counted(paused, missing, down), ['failed{Reason="failed"} 1']);
});
