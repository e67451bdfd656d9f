import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "../kube/process/metrics.ts";
import { ClusterMetrics } from "./metrics.ts";

test("reconciles are counted by how long they took, from a tenth of a second to just under a minute", () => {
  const registry = new Registry();
  const metrics = new ClusterMetrics(registry);
  metrics.reconcile("done", 0.05);
  metrics.reconcile("notYet", 50);
  const buckets = [...registry.text().matchAll(/reconcile_duration_bucket\{le="(\S+)"\} (\d+)/g)];
  assert.deepEqual(
    [buckets.at(0), buckets.at(-2), buckets.at(-1)].map((bucket) => bucket?.slice(1)),
    [
      ["0.1", "1"],
      ["51.2", "2"],
      ["+Inf", "2"],
    ],
  );
  assert.doesNotMatch(registry.text(), /reconcile_failed\{/);
});

test("reconciles that failed are counted by their reason", () => {
  const registry = new Registry();
  const metrics = new ClusterMetrics(registry);
  for (const ended of ["refused", "failed", "failed"] as const) metrics.reconcile(ended, 1);
  assert.match(registry.text(), /reconcile_failed\{Reason="refused"\} 1\n.*reconcile_failed\{Reason="failed"\} 2\n/);
  assert.doesNotMatch(registry.text(), /reconcile_duration_count/);
});

test("of a certificate in use it is said when it expires and how long it is valid in all", () => {
  const registry = new Registry();
  const metrics = new ClusterMetrics(registry);
  const key = { namespace: "shop", name: "demo" };
  const one = { use: "peer", source: "given", notBefore: 1_000_000, notAfter: 87_400_000 } as const;
  metrics.certificatesOf(key, { inUse: [one], problems: [] });
  assert.match(registry.text(), /certificate_expiry_seconds\{[^}]*use="peer"\} 87400\n/);
  assert.match(registry.text(), /certificate_lifetime_seconds\{[^}]*use="peer"\} 86400\n/);
  metrics.certificatesOf(key, { inUse: [], problems: [] });
  assert.doesNotMatch(registry.text(), /certificate_lifetime_seconds\{/);
});

/** All that is said of a cluster: each series by its name, with its value. */
function seriesOf(registry: Registry, cluster: string): Record<string, string> {
  const found = registry.text().matchAll(/^etcd_operator_cluster_(\S+?)(\{\S*\}) (\S+)$/gm);
  return Object.fromEntries(
    [...found]
      .filter(([, , labels = ""]) => labels.includes(`etcd_cluster="${cluster}"`))
      .map(([, name = "", labels = "", value = ""]) => {
        const others = labels.match(/(?:reason|type)="\w+"/g) ?? [];
        return [[name, ...others.toSorted()].join(" "), value];
      }),
  );
}

function measuredTwice(): { readonly registry: Registry; readonly metrics: ClusterMetrics } {
  const registry = new Registry();
  const metrics = new ClusterMetrics(registry);
  for (const name of ["demo", "other"]) {
    const key = { namespace: "shop", name };
    const one = { use: "peer", source: "given", notBefore: 0, notAfter: 86_400_000 } as const;
    metrics.certificatesOf(key, { inUse: [one], problems: [] });
    metrics.spaceOf(key, { size: 1, inUse: 2, quota: 3, volume: 4 });
    metrics.membersOf(key, {
      wanted: 5,
      healthy: 4,
      voters: 3,
      updated: 2,
      rolling: true,
      alarms: { noSpace: 1, corrupt: 0 },
      conditions: [
        { type: "Ready", status: "False", reason: "Updating" },
        { type: "Available", status: "True", reason: "Cluster available" },
      ],
    });
  }
  return { registry, metrics };
}

test("a cluster is measured by its members, its conditions, its space and its certificates", () => {
  const { registry } = measuredTwice();
  const { 'condition reason="Updating" type="Ready"': ready, ...rest } = seriesOf(registry, "demo");
  assert.equal(ready, "0");
  assert.partialDeepStrictEqual(rest, {
    'alarms type="noSpace"': "1",
    'alarms type="corrupt"': "0",
    certificate_expiry_seconds: "86400",
    certificate_lifetime_seconds: "86400",
    certificate_problems: "0",
    db_size_bytes: "1",
    db_in_use_bytes: "2",
    db_quota_bytes: "3",
    volume_size_bytes: "4",
    members_wanted: "5",
    members_healthy: "4",
    voters: "3",
    members_updated: "2",
    rolling: "1",
  });
});

test("nothing is said any more of a cluster that is gone, and all of the others", () => {
  const { registry, metrics } = measuredTwice();
  const before = seriesOf(registry, "other");
  metrics.forget({ namespace: "shop", name: "demo" });
  assert.deepEqual([seriesOf(registry, "demo"), seriesOf(registry, "other")], [{}, before]);
});

test("nothing is said of any cluster by a process that no longer leads", () => {
  const { registry, metrics } = measuredTwice();
  metrics.forgetAll();
  assert.deepEqual([seriesOf(registry, "demo"), seriesOf(registry, "other")], [{}, {}]);
});

test("what is not known any more is not said, and what nobody can see now stays as it was", () => {
  const { registry, metrics } = measuredTwice();
  const key = { namespace: "shop", name: "demo" };
  metrics.spaceOf(key, { size: 9, inUse: undefined, quota: 3, volume: undefined });
  metrics.membersOf(key, {
    wanted: 5,
    healthy: 0,
    voters: undefined,
    updated: undefined,
    rolling: false,
    alarms: { noSpace: 0, corrupt: 0 },
    conditions: [],
  });
  metrics.certificatesOf(key, { inUse: [], problems: [{}, {}] as never });
  const said = seriesOf(registry, "demo");
  assert.deepEqual(
    Object.keys(said).filter((name) => /condition|in_use|volume|expiry|lifetime/.test(name)),
    [],
  );
  assert.partialDeepStrictEqual(said, {
    certificate_problems: "2",
    db_size_bytes: "9",
    members_healthy: "0",
    members_updated: "2",
    rolling: "0",
    voters: "3",
  });
});
