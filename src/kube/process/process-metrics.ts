// What the process itself costs: memory, handles, CPU and how late the event loop is. Names as Prometheus' own client
// libraries have them, so that existing dashboards fit.
import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Registry } from "./metrics.ts";

// How often the event loop is sampled. Each sample wakes the process, so not more often than it is worth.
const sampleEveryMs = 200;

/** Returns how to stop the observation of the event loop. */
export function addProcessMetrics(registry: Registry): () => void {
  const gauge = (name: string, help: string, value: () => number): void => {
    const metric = registry.gauge({ name, help });
    registry.onScrape(() => metric.set({}, value()));
  };
  const startedAt = Date.now() / 1000 - process.uptime();
  gauge("process_start_time_seconds", "Start time of the process, in seconds since 1970.", () => startedAt);
  gauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
  gauge("process_open_fds", "Open file descriptors.", openFiles);
  gauge("nodejs_heap_size_used_bytes", "JavaScript heap in use.", () => process.memoryUsage().heapUsed);
  gauge("nodejs_heap_size_total_bytes", "JavaScript heap, used or not.", () => process.memoryUsage().heapTotal);
  gauge("nodejs_external_memory_bytes", "Memory outside of the JavaScript heap.", () => process.memoryUsage().external);

  const cpu = registry.counter({ name: "process_cpu_seconds_total", help: "CPU time used." });
  let counted = 0;
  registry.onScrape(() => {
    const { user, system } = process.cpuUsage();
    const seconds = (user + system) / 1e6;
    cpu.add({}, Math.max(0, seconds - counted));
    counted = Math.max(counted, seconds);
  });

  const delay = monitorEventLoopDelay({ resolution: sampleEveryMs });
  delay.enable();
  const help = (what: string): string => `How late the event loop was since the last scrape: ${what}.`;
  const worst = registry.gauge({ name: "nodejs_eventloop_lag_max_seconds", help: help("the worst") });
  const typical = registry.gauge({ name: "nodejs_eventloop_lag_p50_seconds", help: help("half of the time less") });
  const bad = registry.gauge({ name: "nodejs_eventloop_lag_p99_seconds", help: help("99 % of the time less") });
  registry.onScrape(() => {
    // What is measured is the time between two samples.
    const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - sampleEveryMs / 1000);
    worst.set({}, late(delay.max));
    typical.set({}, late(delay.percentile(50)));
    bad.set({}, late(delay.percentile(99)));
    delay.reset();
  });
  return () => void delay.disable();
}

function openFiles(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    // Only Linux has this folder; elsewhere the operator runs only in development.
    return Number.NaN;
  }
}
