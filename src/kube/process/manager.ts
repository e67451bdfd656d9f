// The life of a process that runs controllers: caches fill, each controller campaigns for its lease and works while it
// leads, the endpoints report on it; shutdown goes in the opposite order.
import { follow, whenAborted } from "../abort.ts";
import type { KubeApi } from "../client/api.ts";
import { pause, systemClock, type Clock } from "../clock.ts";
import type { Controller } from "../controller/controller.ts";
import type { ElectionTiming } from "../leader/election.ts";
import type { EventRecorder } from "../objects/events.ts";
import { fenced, openFence, type Fence } from "../leader/fence.ts";
import { checked, serveEndpoints, type Check } from "./health.ts";
import { lead } from "../leader/lease.ts";
import { parseListenAddress } from "./listen-address.ts";
import type { Key, Kind, KubeObject } from "../objects/objects.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import type { RuntimeObserver } from "./runtime-observer.ts";

export interface RunningCache {
  readonly kind: Kind<KubeObject>;
  readonly synced: boolean;
  /** The process works without it, and does not wait for it. */
  readonly optional?: boolean;
  whenSynced(signal: AbortSignal): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

export interface RunningController {
  readonly controller: Controller;
  /** Its holder runs the controller. Absent: every process does. */
  readonly lease?: Key;
  /** What else a process does for as long as it runs the controller; it ends when the signal aborts. */
  readonly alongside?: (api: KubeApi, signal: AbortSignal) => Promise<void>;
}

export interface ManagerOptions {
  readonly api: KubeApi;
  /** For the leases; with connections of its own, heavy traffic cannot cost the leadership. Default: `api`. */
  readonly leaseApi?: KubeApi;
  readonly informers: readonly RunningCache[];
  readonly controllers: readonly RunningController[];
  /** Unlike that of any other process: the pod's name and something random. */
  readonly identity: string;
  /** `host:port`, `[ipv6]:port`, `:port`, or `0` for none. */
  readonly listen: string;
  readonly observer: RuntimeObserver;
  /** Runs before the caches are filled. The endpoints are served meanwhile, so it may take as long as it needs. */
  readonly prepare?: (signal: AbortSignal) => Promise<void>;
  readonly events?: EventRecorder;
  /** Aborts when the process shall end. */
  readonly signal: AbortSignal;
  readonly timing?: ElectionTiming;
  /** How long running reconciles may take to finish at shutdown, in milliseconds, before they are aborted. */
  readonly drainMs?: number;
  readonly clock?: Clock;
  /** Called with the port that is served, once it is. */
  readonly onServing?: (port: number | undefined) => void;
}

const usualDrainMs = 10_000;
/** How long aborted reconciles may take to return. */
const stopMs = 5_000;
const flushMs = 2_000;

/** Resolves when the signal has aborted and everything has stopped; fails with the first part that failed. */
export async function runManager(options: ManagerOptions): Promise<void> {
  const { informers, controllers, events } = options;
  const needed = informers.filter(({ optional }) => optional !== true);
  const { log, metrics } = options.observer;
  const shutdown = follow(options.signal);
  const cachesEnd = new AbortController();
  const failures: Error[] = [];
  /** One part that fails takes the whole process down, in order. */
  const part = async (run: Promise<void>): Promise<void> => {
    try {
      await run;
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error), { cause: error });
      if (shutdown.signal.aborted && failure === shutdown.signal.reason) return;
      failures.push(failure);
      shutdown.abort(failure);
    }
  };
  const endpoints = await serveEndpoints(parseListenAddress(options.listen), {
    "/healthz": checked(() => []),
    "/readyz": checked(() => readiness(needed, shutdown.signal)),
    "/metrics": () => ({ status: 200, contentType: "text/plain; version=0.0.4", body: metrics.registry.text() }),
  });
  const stopProcessMetrics = addProcessMetrics(metrics.registry);
  options.onServing?.(endpoints.port);
  await part(options.prepare?.(shutdown.signal) ?? Promise.resolve());
  const caches = informers.map((informer) => part(informer.run(cachesEnd.signal)));
  // Only a process that can work at once competes for the work.
  await part(Promise.all(needed.map((informer) => informer.whenSynced(shutdown.signal))).then(() => undefined));
  if (!shutdown.signal.aborted) {
    log.info("caches are filled", { kinds: needed.map((informer) => informer.kind.kind) });
    await Promise.all([
      whenAborted(shutdown.signal),
      ...controllers.map((running) => part(runController(running, options, shutdown.signal))),
    ]);
  }
  await events?.flush(flushMs);
  // Caches end last: reconciles that finish still wait for them to show their writes.
  cachesEnd.abort(new Error("The process ends"));
  await Promise.all(caches);
  await endpoints.close();
  stopProcessMetrics();
  shutdown.release();
  if (failures[0] !== undefined) throw failures[0];
}

/** A standby is ready: it could take over at any moment. */
function readiness(informers: readonly RunningCache[], shutdown: AbortSignal): Check[] {
  return [
    { name: "running", holds: () => (shutdown.aborted ? "the process ends" : true) },
    ...informers.map((informer) => ({
      name: informer.kind.plural,
      holds: () => informer.synced || "not listed yet",
    })),
  ];
}

async function runController(running: RunningController, options: ManagerOptions, signal: AbortSignal): Promise<void> {
  const { controller, lease, alongside } = running;
  const { api, leaseApi = api, identity, timing, clock = systemClock, drainMs = usualDrainMs } = options;
  const work = (stop: AbortSignal, fence: Fence): Promise<void> =>
    runTerm(controller, { api, fence, clock, drainMs, alongside }, stop);
  if (lease === undefined) return work(signal, openFence);
  const onEvent = options.observer.lease(controller.name, lease);
  await lead(
    { api: leaseApi, lease, identity, signal, clock, onEvent, stopWithin: drainMs + stopMs, ...(timing && { timing }) },
    work,
  );
}

interface TermOptions {
  api: KubeApi;
  fence: Fence;
  clock: Clock;
  drainMs: number;
  alongside: RunningController["alongside"];
}

/** Runs the controller until leadership is lost, at once, or until it was asked to stop and its reconciles have ended. */
async function runTerm(controller: Controller, options: TermOptions, stop: AbortSignal): Promise<void> {
  const { api, fence, clock, drainMs, alongside } = options;
  const ended = follow(fence.signal);
  const shutdown = async (): Promise<void> => {
    const drained = follow(fence.signal);
    await Promise.race([controller.drain(), pause(clock, drainMs, drained.signal)]);
    drained.abort(new Error("The controller has drained"));
    drained.release();
    ended.abort(new Error("The controller stops"));
  };
  const onStop = (): void => void shutdown();
  if (stop.aborted) onStop();
  else stop.addEventListener("abort", onStop, { once: true });
  try {
    await Promise.all([controller.run(api, ended.signal, fence), alongside?.(fenced(api, fence), ended.signal)]);
  } finally {
    stop.removeEventListener("abort", onStop);
    ended.release();
  }
}
