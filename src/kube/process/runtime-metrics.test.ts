import assert from "node:assert/strict";
import { test } from "node:test";
import { addProcessMetrics } from "./process-metrics.ts";
import { Registry } from "./metrics.ts";
import { again, done, failed, type Next } from "../controller/run-reconcile.ts";
import { RuntimeMetrics } from "./runtime-metrics.ts";

function samples(registry: Registry): Map<string, number> {
  const lines = registry
    .text()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
}

test("a controller's queue and reconciles show in the metrics", () => {
  const metrics = new RuntimeMetrics();
  const observe = metrics.controller("cluster");
  observe({ type: "queue", event: { type: "added", key: "a", priority: "normal", depth: 2 } });
  observe({ type: "queue", event: { type: "started", key: "a", waitedMs: 20, depth: 1 } });
  observe({ type: "queue", event: { type: "retrying", key: "a", failures: 1, delayMs: 5 } });
  observe({ type: "queue", event: { type: "finished", key: "a", tookMs: 300, depth: 1 } });
  const results: Next[] = [done, done, again(1), failed(new Error("x"))];
  for (const next of results) {
    observe({ type: "reconcileEnded", key: "a", id: "1", next, tookMs: 250, writes: 0, cutShort: undefined });
  }
  observe({ type: "reconcileOverdue", key: "a", id: "1" });
  const seen = samples(metrics.registry);
  const expected: [string, number][] = [
    ['workqueue_depth{name="cluster"}', 1],
    ['workqueue_adds_total{name="cluster"}', 1],
    ['workqueue_retries_total{name="cluster"}', 1],
    ['workqueue_queue_duration_seconds_sum{name="cluster"}', 0.02],
    ['workqueue_work_duration_seconds_sum{name="cluster"}', 0.3],
    ['controller_runtime_reconcile_total{controller="cluster",result="success"}', 2],
    ['controller_runtime_reconcile_total{controller="cluster",result="requeue_after"}', 1],
    ['controller_runtime_reconcile_total{controller="cluster",result="error"}', 1],
    ['controller_runtime_reconcile_time_seconds_count{controller="cluster"}', 4],
    ['controller_runtime_reconcile_timeouts_total{controller="cluster"}', 1],
  ];
  for (const [name, value] of expected) assert.equal(seen.get(name), value, name);
});

test("an object that fails shows how often, until a reconcile of it succeeds or another process leads", () => {
  const metrics = new RuntimeMetrics();
  const observe = metrics.controller("cluster");
  const ended = (key: string, next: Next): void =>
    observe({ type: "reconcileEnded", key, id: "1", next, tookMs: 1, writes: 0, cutShort: undefined });
  const failing = (): (string | number)[][] =>
    [...samples(metrics.registry)].filter(([name]) => name.startsWith("controller_failures_in_a_row"));
  const labels = (name: string): string =>
    `controller_failures_in_a_row{controller="cluster",name="${name}",namespace="shop"}`;
  for (const next of [failed(new Error("x")), failed(new Error("x"))]) ended("shop/a", next);
  ended("shop/b", failed(new Error("x")));
  ended("shop/c", done);
  assert.deepEqual(failing(), [
    [labels("a"), 2],
    [labels("b"), 1],
  ]);
  ended("shop/a", again(1));
  assert.deepEqual(failing(), [[labels("b"), 1]]);
  observe({ type: "stopped" });
  assert.deepEqual(failing(), []);
  ended("shop/b", failed(new Error("x")));
  assert.deepEqual(failing(), [[labels("b"), 1]]);
});

test("lists, watches, requests, leadership and events show in the metrics", () => {
  const metrics = new RuntimeMetrics();
  const informer = metrics.informer("Pod");
  informer({ type: "listed", objects: 3, pages: 1, tookMs: 4 });
  informer({ type: "watchEnded", because: "expired", events: 0, livedMs: 5 });
  informer({ type: "failed", doing: "watch", error: new Error("x"), retryInMs: 200 });
  metrics.request({ verb: "get", resource: "pods", outcome: 404, took: 20, attempt: 1 });
  metrics.request({ verb: "watch", resource: "pods", outcome: "broken", took: 60_000, attempt: 1 });
  metrics.event({ type: "dropped", because: "rate" });
  const lease = metrics.lease("cluster");
  const leader = 'leader_election_master_status{name="cluster"}';
  assert.equal(samples(metrics.registry).get(leader), 0);
  lease({ t: "leading" });
  lease({ t: "attemptFailed", error: new Error("x") });
  assert.equal(samples(metrics.registry).get(leader), 1);
  lease({ t: "lost", because: { t: "deadline" } });
  const seen = samples(metrics.registry);
  const expected: [string, number | undefined][] = [
    [leader, 0],
    ['informer_lists_total{kind="Pod"}', 1],
    ['informer_watch_ends_total{because="expired",kind="Pod"}', 1],
    ['informer_failures_total{doing="watch",kind="Pod"}', 1],
    ['kubernetes_api_requests_total{code="404",verb="get"}', 1],
    ['kubernetes_api_requests_total{code="broken",verb="watch"}', 1],
    ['kubernetes_api_request_duration_seconds_count{verb="get"}', 1],
    ['kubernetes_api_request_duration_seconds_count{verb="watch"}', undefined],
    ['kubernetes_events_total{outcome="dropped: rate"}', 1],
  ];
  for (const [name, value] of expected) assert.equal(seen.get(name), value, name);
});

test("the process tells what it costs", () => {
  const registry = new Registry();
  const stop = addProcessMetrics(registry);
  const seen = samples(registry);
  stop();
  const within: [string, number, number][] = [
    ["process_start_time_seconds", Date.now() / 1000 - 3600, Date.now() / 1000],
    ["process_resident_memory_bytes", 10e6, 10e9],
    ["nodejs_heap_size_used_bytes", 1e6, 10e9],
    ["process_cpu_seconds_total", 0.001, 3600],
    ["process_open_fds", 3, 10_000],
    ["nodejs_eventloop_lag_max_seconds", 0, 3600],
  ];
  for (const [name, least, most] of within) {
    const value = seen.get(name) ?? Number.NaN;
    assert.ok(value >= least && value <= most, `${name} is ${value}`);
  }
});
