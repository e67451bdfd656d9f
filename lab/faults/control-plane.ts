// Faults of the API server and of DNS: kills or freezes them, and brings them back.
import { Resolver } from "node:dns/promises";
import * as net from "node:net";
import { isReady } from "../control-plane/api.ts";
import { type Caching, configureDns } from "../control-plane/dns.ts";
import { hostAddress, type LabConfig, UsageError } from "../config.ts";
import { type Daemon, isAlive, readDaemon, restartDaemon, signalDaemon, stopDaemon } from "../machine/daemon.ts";
import { untilStopped } from "../machine/stopped.ts";
import { apiUrl } from "../control-plane/kubeconfig.ts";
import { busyMs } from "../control-plane/readiness.ts";
import { waitFor } from "../progress.ts";
import { type ControlPlanePart, type Effect, inject } from "./record.ts";

type Stop = Extract<Effect, { kind: "stop" }>;
type Freeze = Extract<Effect, { kind: "freeze" }>;

export const stopApi = (lab: LabConfig): Promise<void> => stop(lab, "stop-api", "apiserver");
export const stopDns = (lab: LabConfig): Promise<void> => stop(lab, "stop-dns", "coredns");
export const freezeApi = (lab: LabConfig): Promise<void> => freeze(lab, "freeze-api", "apiserver");
export const freezeDns = (lab: LabConfig): Promise<void> => freeze(lab, "freeze-dns", "coredns");

/** SIGKILL: after SIGTERM an API server may take a minute to close its watches. */
async function stop(lab: LabConfig, id: string, component: ControlPlanePart): Promise<void> {
  const daemon = running(lab, component);
  const effect: Stop = { kind: "stop", component };
  await inject(
    lab,
    id,
    effect,
    () => stopDaemon(daemon),
    () => startAgain(lab, effect),
  );
}

async function freeze(lab: LabConfig, id: string, component: ControlPlanePart): Promise<void> {
  const daemon = running(lab, component);
  const effect: Freeze = { kind: "freeze", component };
  await inject(
    lab,
    id,
    effect,
    async () => {
      if (signalDaemon(daemon, "SIGSTOP")) await untilStopped(daemon.pid);
    },
    () => thaw(lab, effect),
  );
}

export const cacheDns = (lab: LabConfig): Promise<void> =>
  inject(
    lab,
    "cache-dns",
    { kind: "cache-dns" },
    () => restartDns(lab, "all"),
    () => uncacheDns(lab),
  );

export const uncacheDns = (lab: LabConfig): Promise<void> => restartDns(lab, "none");

async function restartDns(lab: LabConfig, caching: Caching): Promise<void> {
  configureDns(lab, caching);
  await stopDaemon(recorded(lab, "coredns"));
  await startAgain(lab, { kind: "stop", component: "coredns" });
}

function recorded(lab: LabConfig, component: ControlPlanePart): Daemon {
  const daemon = readDaemon(lab, component);
  if (daemon === undefined) throw new UsageError(`The lab "${lab.name}" has no ${component}: it is not up.`);
  return daemon;
}

function running(lab: LabConfig, component: ControlPlanePart): Daemon {
  const daemon = recorded(lab, component);
  if (!isAlive(daemon)) throw new UsageError(`The ${component} of the lab "${lab.name}" does not run.`);
  return daemon;
}

/** One that was killed while frozen stays down: another fault did that and undoes it. */
export async function thaw(lab: LabConfig, effect: Freeze): Promise<void> {
  const daemon = recorded(lab, effect.component);
  if (signalDaemon(daemon, "SIGCONT")) await untilItServes(lab, effect.component);
}

/** Waits until the port is free, which may be after the process is gone: a server that starts sooner exits. */
export async function startAgain(lab: LabConfig, effect: Stop): Promise<void> {
  const daemon = recorded(lab, effect.component);
  if (!isAlive(daemon)) {
    const port = effect.component === "apiserver" ? Number(new URL(apiUrl(lab)).port) : 53;
    await waitFor(
      `port ${port} of ${effect.component} to be free`,
      async () => (await isFree(hostAddress(lab), port)) || undefined,
      { timeoutMs: 60_000, everyMs: 50, lastSeen: () => "in use" },
    );
    restartDaemon(lab, daemon);
  }
  await untilItServes(lab, effect.component);
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(error),
    );
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

async function untilItServes(lab: LabConfig, component: ControlPlanePart): Promise<void> {
  if (component === "apiserver")
    await waitFor("the API server to be ready", async () => (await isReady(lab)) || undefined, { timeoutMs: busyMs });
  // DNS resolves nothing while the API server is down, so there is nothing to wait for.
  else if (await isReady(lab))
    await waitFor("DNS to resolve the API server's name", () => lookUp(lab), { timeoutMs: busyMs });
}

async function lookUp(lab: LabConfig): Promise<string[]> {
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([hostAddress(lab)]);
  return resolver.resolve4("kubernetes.default.svc.cluster.local");
}
