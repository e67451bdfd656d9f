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
