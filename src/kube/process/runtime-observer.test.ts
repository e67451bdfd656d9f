import assert from "node:assert/strict";
import { test } from "node:test";
import { logger } from "./log.ts";
import { done, failed, failedForGood } from "../controller/next.ts";
import { ConfigMap } from "../objects/kinds.ts";
import type { Next } from "../controller/next.ts";
import { RuntimeMetrics } from "./runtime-metrics.ts";
import { RuntimeObserver } from "./runtime-observer.ts";

function observing() {
  const lines: { level: string; message: string; controller?: string; error?: { message: string } }[] = [];
  const metrics = new RuntimeMetrics();
  const log = logger({ write: (line) => lines.push(JSON.parse(line)) });
  return { observer: new RuntimeObserver(log, metrics), lines, metrics };
}

const ended = (next: Next, cutShort?: "deadline" | "stop") =>
  ({ type: "passEnded", key: "n/a", id: "x-1", next, tookMs: 3, writes: 1, cutShort }) as const;

test("a pass that fails is in the log and in the metrics, one that succeeds is not in the log", () => {
  const { observer, lines, metrics } = observing();
  const observe = observer.controller("cluster");
  observe(ended(done));
  observe(ended(failed(new Error("no quorum"))));
  observe(ended(failedForGood(new Error("bad spec"))));
  assert.deepEqual(
    lines.map(({ level, message, controller, error }) => [level, message, controller, error?.message]),
    [
      ["warn", "pass failed", "cluster", "no quorum"],
      ["error", "pass failed for good", "cluster", "bad spec"],
    ],
  );
  assert.match(metrics.registry.text(), /reconcile_total\{controller="cluster",result="error"\} 2\n/);
});

test("a pass that was aborted because the process ends is no failure worth a line", () => {
  const { observer, lines } = observing();
  observer.controller("cluster")(ended(failed(new Error("aborted")), "stop"));
  assert.deepEqual(lines, []);
});

test("what goes wrong around passes, in informers and with events is in the log", () => {
  const { observer, lines } = observing();
  const controller = observer.controller("cluster");
  const missing = [{ did: "unknown", kind: ConfigMap, key: { namespace: "n", name: "a" } }] as const;
  controller({ type: "passOverdue", key: "n/a", id: "x-1" });
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
