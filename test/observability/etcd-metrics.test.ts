// Real servers have the metrics of etcd that alerts and dashboards use, since the version that the table says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { etcdMetrics } from "../../observability/etcd-metrics.ts";
import { has } from "../../src/etcd/versions/features.ts";
import { minorOf, version } from "../../src/etcd/versions/version.ts";
import { RealEtcd } from "../etcd/real-etcd.ts";
import { triedVersions } from "../support/matrix.ts";

for (const built of triedVersions)
  test(`etcd ${built} has the metrics of its version, where members in pods serve them`, async () => {
    await using etcd = await RealEtcd.startCluster(built, 2);
    const v = version(built);
    const url = has(v, "metricsListener") ? etcd.metricsUrl("m0") : etcd.clientUrl("m0");
    const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(10_000) });
    const served = new Set([...(await response.text()).matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
    const expected = Object.entries(etcdMetrics).filter(([, since]) => since <= minorOf(v));
    const found = Object.keys(etcdMetrics).filter((name) => served.has(name));
    assert.deepEqual(
      found,
      expected.map(([name]) => name),
    );
  });
