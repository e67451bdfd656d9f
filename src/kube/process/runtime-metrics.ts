// The metrics of the controller runtime, fed by the observers of its parts. Queue, reconcile and leader metrics have
// the names of controller-runtime and client-go, so that existing dashboards and alerts fit.
import type { SentRequest } from "../client/api-server.ts";
import type { ControllerEvent } from "../controller/controller.ts";
import type { EventOutcome } from "../objects/events.ts";
import type { InformerEvent } from "../cache/informer.ts";
import type { LeaseEvent } from "../leader/lease.ts";
import { Registry, type Counter, type Gauge, type Histogram } from "./metrics.ts";
import type { Next } from "../controller/run-reconcile.ts";
import type { QueueEvent } from "../controller/queue.ts";

const seconds = [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60];

export class RuntimeMetrics {
  readonly registry: Registry;
  readonly #depth: Gauge;
  readonly #adds: Counter;
  readonly #waited: Histogram;
  readonly #worked: Histogram;
  readonly #retries: Counter;
  readonly #reconciles: Counter;
  readonly #reconcileTime: Histogram;
  readonly #failing: Gauge;
  readonly #overdue: Counter;
  readonly #cacheLag: Counter;
  readonly #lists: Counter;
  readonly #watchEnds: Counter;
  readonly #informerFailures: Counter;
  readonly #requests: Counter;
  readonly #requestTime: Histogram;
  readonly #leader: Gauge;
  readonly #events: Counter;

  constructor(registry: Registry = new Registry()) {
    this.registry = registry;
    const counter = (name: string, help: string): Counter => registry.counter({ name, help });
    const gauge = (name: string, help: string): Gauge => registry.gauge({ name, help });
    const histogram = (name: string, help: string): Histogram => registry.histogram({ name, help, buckets: seconds });
    this.#depth = gauge("workqueue_depth", "Keys that wait for a worker.");
    this.#adds = counter("workqueue_adds_total", "Keys that became ready for a worker.");
    this.#waited = histogram("workqueue_queue_duration_seconds", "Time that a key waited for a worker.");
    this.#worked = histogram("workqueue_work_duration_seconds", "Time that a worker was busy with a key.");
    this.#retries = counter("workqueue_retries_total", "Keys that were requeued after a failure.");
    this.#reconciles = counter("controller_runtime_reconcile_total", "Reconciles, by result.");
    this.#reconcileTime = histogram("controller_runtime_reconcile_time_seconds", "Duration of a reconcile.");
    this.#failing = gauge(
      "controller_failures_in_a_row",
      "Failed reconciles of an object since its last successful one; absent if the last one succeeded.",
    );
    this.#overdue = counter(
      "controller_runtime_reconcile_timeouts_total",
      "Reconciles that did not end by their deadline.",
    );
    this.#cacheLag = counter(
      "controller_cache_lag_total",
      "Keys that were reconciled although a cache did not show a write in time.",
    );
    this.#lists = counter("informer_lists_total", "Complete lists of a kind.");
    this.#watchEnds = counter("informer_watch_ends_total", "Watches that ended and were started again, by reason.");
    this.#informerFailures = counter("informer_failures_total", "Lists and watches that failed.");
    this.#requests = counter("kubernetes_api_requests_total", "Requests sent, including retries, by verb and code.");
    this.#requestTime = histogram(
      "kubernetes_api_request_duration_seconds",
      "Duration of a request; watches are not counted.",
    );
    this.#leader = gauge("leader_election_master_status", "1 while this process leads by that lease.");
    this.#events = counter("kubernetes_events_total", "Events, by outcome.");
  }

  controller(name: string): (event: ControllerEvent) => void {
    const failures = new Map<string, number>();
    return (event) => {
      if (event.type === "queue") this.#queue(name, event.event);
      if (event.type === "reconcileEnded") {
        this.#reconciles.add({ controller: name, result: resultOf(event.next) });
        this.#reconcileTime.observe({ controller: name }, event.tookMs / 1000);
        const labels = { controller: name, ...objectOf(event.key) };
        if (event.next.next === "failed") {
          failures.set(event.key, (failures.get(event.key) ?? 0) + 1);
          this.#failing.set(labels, failures.get(event.key) ?? 0);
        } else if (failures.delete(event.key)) this.#failing.remove(labels);
      }
      if (event.type === "stopped") {
        failures.clear();
        this.#failing.remove({ controller: name });
      }
      if (event.type === "reconcileOverdue") this.#overdue.add({ controller: name });
      if (event.type === "cachesLag") this.#cacheLag.add({ controller: name });
    };
  }

  informer(kind: string): (event: InformerEvent) => void {
    return (event) => {
      if (event.type === "listed") this.#lists.add({ kind });
      if (event.type === "watchEnded") this.#watchEnds.add({ kind, because: event.because });
      if (event.type === "failed") this.#informerFailures.add({ kind, doing: event.doing });
      if (event.type === "forbidden") this.#informerFailures.add({ kind, doing: "read" });
    };
  }

  request(sent: SentRequest): void {
    this.#requests.add({ verb: sent.verb, code: String(sent.outcome) });
    // A watch is meant to last.
    if (sent.verb !== "watch") this.#requestTime.observe({ verb: sent.verb }, sent.took / 1000);
  }

  lease(name: string): (news: LeaseEvent) => void {
    this.#leader.set({ name }, 0);
    return (news) => {
      if (news.t === "leading") this.#leader.set({ name }, 1);
      if (news.t === "lost" || news.t === "released" || news.t === "following") this.#leader.set({ name }, 0);
    };
  }

  event(outcome: EventOutcome): void {
    this.#events.add({ outcome: outcome.type === "dropped" ? `dropped: ${outcome.because}` : outcome.type });
  }

  #queue(name: string, event: QueueEvent): void {
    if ("depth" in event) this.#depth.set({ name }, event.depth);
    if (event.type === "added") this.#adds.add({ name });
    if (event.type === "started") this.#waited.observe({ name }, event.waitedMs / 1000);
    if (event.type === "finished") this.#worked.observe({ name }, event.tookMs / 1000);
    if (event.type === "retrying") this.#retries.add({ name });
  }
}

function objectOf(key: string): { namespace: string; name: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, Math.max(0, slash)), name: key.slice(slash + 1) };
}

function resultOf(next: Next): string {
  if (next.next === "failed") return "error";
  return next.next === "again" ? "requeue_after" : "success";
}
