import assert from "node:assert/strict";
import { test } from "node:test";
import { TransportError } from "../../transport/errors.ts";
import { ApiError } from "../client/errors.ts";
import { logger } from "./log.ts";
import { done, failed, type Next } from "../controller/run-reconcile.ts";
import { ConfigMap } from "../objects/kinds.ts";
import { RuntimeMetrics } from "./runtime-metrics.ts";
import { RuntimeObserver } from "./runtime-observer.ts";

function observing() {
  const lines: { level: string; message: string; controller?: string; error?: { message: string } }[] = [];
  const metrics = new RuntimeMetrics();
  const log = logger({ write: (line) => lines.push(JSON.parse(line)) });
  return { observer: new RuntimeObserver(log, metrics), lines, metrics };
}

const ended = (next: Next, cutShort?: "deadline" | "stop") =>
  ({ type: "reconcileEnded", key: "n/a", id: "x-1", next, tookMs: 3, writes: 1, cutShort }) as const;

test("a reconcile that fails is in the log and in the metrics, one that succeeds is not in the log", () => {
  const { observer, lines, metrics } = observing();
  const observe = observer.controller("cluster");
  observe(ended(done));
  observe(ended(failed(new Error("no quorum"))));
  assert.deepEqual(
    lines.map(({ level, message, controller, error }) => [level, message, controller, error?.message]),
    [["warn", "reconcile failed and is retried", "cluster", "no quorum"]],
  );
  assert.match(metrics.registry.text(), /reconcile_total\{controller="cluster",result="error"\} 1\n/);
});

test("a reconcile that was aborted because the process ends is no failure worth a line", () => {
  const { observer, lines } = observing();
  observer.controller("cluster")(ended(failed(new Error("aborted")), "stop"));
  assert.deepEqual(lines, []);
});

const expected = [
  new ApiError(410, "Expired", "too old resource version"),
  new ApiError(429, "TooManyRequests", "later", [], 1000),
  new ApiError(409, "Conflict", "the object has been modified"),
  new TransportError("broken", "GET /api/v1/pods broke off"),
  new TransportError("unprocessed", "GET /api/v1/pods was turned away unprocessed"),
];
for (const error of expected) {
  test(`what an API server does every day is one line of information, without a stack: ${error.message}`, () => {
    const { observer, lines } = observing();
    observer.informer("Pod")({ type: "failed", doing: "watch", error, retryInMs: 200 });
    observer.lease("cluster", { namespace: "n", name: "l" })({ t: "attemptFailed", error });
    observer.event({ type: "failed", error });
    observer.controller("cluster")(ended(failed(error)));
    assert.deepEqual(
      lines.map(({ level }) => level),
      ["info", "info", "info", "info"],
    );
    for (const line of lines) {
      assert.ok(JSON.stringify(line).includes(error.message));
      assert.ok(!JSON.stringify(line).includes("stack"));
    }
  });
}

test("an API server that refuses or cannot be reached is a warning of one line; only a bug shows its stack", () => {
  const { observer, lines } = observing();
  const informer = observer.informer("Pod");
  informer({ type: "failed", doing: "list", error: new ApiError(403, "Forbidden", "no"), retryInMs: 200 });
  informer({ type: "failed", doing: "list", error: new TransportError("unreachable", "refused"), retryInMs: 200 });
  informer({ type: "failed", doing: "list", error: new TypeError("bug"), retryInMs: 200 });
  assert.deepEqual(
    lines.map((line) => [line.level, JSON.stringify(line).includes("stack")]),
    [
      ["warn", false],
      ["warn", false],
      ["warn", true],
    ],
  );
});

test("what goes wrong around reconciles, in informers and with events is in the log", () => {
  const { observer, lines } = observing();
  const controller = observer.controller("cluster");
  const missing = [{ did: "unknown", kind: ConfigMap, key: { namespace: "n", name: "a" } }] as const;
  controller({ type: "reconcileOverdue", key: "n/a", id: "x-1" });
  controller({ type: "cachesLag", key: "n/a", waitedMs: 5, missing });
  controller({ type: "queue", event: { type: "threw", key: "n/a", error: new Error("x") } });
  const informer = observer.informer("Pod");
  informer({ type: "listed", objects: 3, pages: 1, tookMs: 4 });
  informer({ type: "failed", doing: "list", error: new Error("x"), retryInMs: 200 });
  informer({ type: "olderListRefused", seen: "9", offered: "4" });
  informer({ type: "olderListBelieved", seen: "9", offered: "4" });
  informer({ type: "threw", what: "handler", error: new Error("x") });
  observer.event({ type: "sent" });
  observer.event({ type: "failed", error: new Error("x") });
  const lease = observer.lease("cluster", { namespace: "n", name: "l" });
  lease({ t: "lost", because: { t: "deadline" } });
  lease({ t: "attemptFailed", error: new Error("x") });
  assert.deepEqual(
    lines.map((line) => line.level),
    ["warn", "warn", "error", "warn", "warn", "error", "error", "warn", "warn", "warn"],
  );
});
