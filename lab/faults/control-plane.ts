// Harm to what all of the cluster leans on: the API server and DNS, killed or frozen, and brought back as they were.
import { Resolver } from "node:dns/promises";
import * as net from "node:net";
import { isReady } from "../api.ts";
import { hostAddress, type LabConfig, UsageError } from "../config.ts";
import { type Daemon, isAlive, readDaemon, restartDaemon, signalDaemon, stopDaemon } from "../daemon.ts";
import { apiUrl } from "../kubeconfig.ts";
import { waitFor } from "../progress.ts";
import { type ControlPlanePart, type Harm, inflict } from "./record.ts";

type Stop = Extract<Harm, { kind: "stop" }>;
type Freeze = Extract<Harm, { kind: "freeze" }>;

export const stopApi = (lab: LabConfig): Promise<void> => stop(lab, "stop-api", "apiserver");
export const stopDns = (lab: LabConfig): Promise<void> => stop(lab, "stop-dns", "coredns");
export const freezeApi = (lab: LabConfig): Promise<void> => freeze(lab, "freeze-api", "apiserver");
export const freezeDns = (lab: LabConfig): Promise<void> => freeze(lab, "freeze-dns", "coredns");

/** Killed, not asked to end: asked, an API server may take a minute to let its watchers go. */
async function stop(lab: LabConfig, id: string, component: ControlPlanePart): Promise<void> {
  const daemon = running(lab, component);
  const harm: Stop = { kind: "stop", component };
  await inflict(
    lab,
    id,
    harm,
    () => stopDaemon(daemon),
    () => startAgain(lab, harm),
  );
}

async function freeze(lab: LabConfig, id: string, component: ControlPlanePart): Promise<void> {
  const daemon = running(lab, component);
  const harm: Freeze = { kind: "freeze", component };
  await inflict(
    lab,
    id,
    harm,
    async () => void signalDaemon(daemon, "SIGSTOP"),
    () => thaw(lab, harm),
  );
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

/** One that was killed while frozen stays away: bringing it back is not this fault's matter. */
export async function thaw(lab: LabConfig, harm: Freeze): Promise<void> {
  const daemon = recorded(lab, harm.component);
  if (signalDaemon(daemon, "SIGCONT")) await untilItServes(lab, harm.component);
}

/** Only once its port is free, which may be after its process is gone: a server that starts sooner gives up. */
export async function startAgain(lab: LabConfig, harm: Stop): Promise<void> {
  const daemon = recorded(lab, harm.component);
  if (!isAlive(daemon)) {
    const port = harm.component === "apiserver" ? Number(new URL(apiUrl(lab)).port) : 53;
    await waitFor(
      `port ${port} of ${harm.component} to be free`,
      async () => (await isFree(hostAddress(lab), port)) || undefined,
      { timeoutMs: 30_000, everyMs: 50, lastSeen: () => "in use" },
    );
    restartDaemon(lab, daemon);
  }
  await untilItServes(lab, harm.component);
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
    await waitFor("the API server to be ready", async () => (await isReady(lab)) || undefined, { timeoutMs: 60_000 });
  // DNS knows no names while the API server is away, so there is nothing to wait for.
  else if (await isReady(lab))
    await waitFor("DNS to know the API server's name", () => lookUp(lab), { timeoutMs: 30_000 });
}

async function lookUp(lab: LabConfig): Promise<string[]> {
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([hostAddress(lab)]);
  return resolver.resolve4("kubernetes.default.svc.cluster.local");
}
