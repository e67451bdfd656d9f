// Waits for a daemon to be ready. If it dies, the wait ends at once with the end of its log.
import * as fs from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { type LabConfig, logPath } from "../config.ts";
import { type Daemon, isAlive } from "../machine/daemon.ts";
import { seconds } from "../progress.ts";

/** How long a daemon may take to start while other suites and builds have the processors. Only a failing start takes so long. */
export const busyMs = 180_000;

function logTail(file: string): string {
  try {
    return fs.readFileSync(file, "utf8").trim().split("\n").slice(-20).join("\n");
  } catch {
    return "";
  }
}

export function mustLive(lab: LabConfig, daemon: Daemon): void {
  if (isAlive(daemon)) return;
  const log = logPath(lab, daemon.component);
  throw new Error(`${daemon.component} ended right after it started (${log}):\n${logTail(log)}`);
}

export async function waitForDaemon(
  lab: LabConfig,
  daemon: Daemon,
  isReady: () => Promise<boolean>,
  signal: AbortSignal,
  timeoutMs = busyMs,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  const log = logPath(lab, daemon.component);
  while (!(await isReady())) {
    signal.throwIfAborted();
    mustLive(lab, daemon);
    if (Date.now() > deadline)
      throw new Error(`${daemon.component} was not ready within ${seconds(timeoutMs)} (${log}):\n${logTail(log)}`);
    await sleep(30);
  }
}

/** Whether the health endpoint returns 200; false when it does not answer. */
export function isHealthy(url: string, options: https.RequestOptions = {}): Promise<boolean> {
  const { get } = url.startsWith("https:") ? https : http;
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 1_000, ...options }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });
}
