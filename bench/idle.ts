// A runtime with nothing to do: what it still asks of the API server, by the server's own log, how many connections it
// keeps, and what CPU it uses. Beside it a bare program that keeps the same watches and the same lease.
import { setTimeout as sleep } from "node:timers/promises";
import { auditEntries, auditMark, countRequests, settleAudit } from "../lab/audit.ts";
import type { AuditEntry } from "../lab/audit-log.ts";
import { kubeconfigPath } from "../lab/config.ts";
import { step } from "../lab/progress.ts";
import type { Ground } from "./ground.ts";
import { leaseIsHeld } from "./lease.ts";
import { compare, type Figure } from "./measure.ts";
import { connections, cpuTime } from "./process.ts";
import { startOnHost } from "./program.ts";
import { podEnvironment } from "./programs/settings.ts";

interface Minute {
  readonly requests: readonly AuditEntry[];
  readonly connections: number;
  readonly cpuMs: number;
}

export async function idle(ground: Ground): Promise<Figure[]> {
  const { signal, options } = ground;
  const namespace = await ground.namespace();
  const agent = (name: string): string => `${namespace}-${name}`;
  const start = async (name: "pod" | "bare-pod") => {
    const env = {
      ...podEnvironment({ namespace, lease: agent(name), listen: "127.0.0.1:0" }),
      KUBECONFIG: kubeconfigPath(ground.lab),
      BENCH_ACCESS: JSON.stringify(await ground.access(agent(name))),
    };
    const running = await startOnHost(name, env, signal);
    return { agent: agent(name), running, minutes: [] as Minute[] };
  };
  const ours = await start("pod");
  const floor = await start("bare-pod");
  try {
    for (const { agent } of [ours, floor]) await leaseIsHeld(ground, { namespace, name: agent });
    await step(`idle for ${options.idleMinutes} minutes`, async () => {
      for (let minute = 0; minute < options.idleMinutes; minute += 1) {
        await settleAudit(ground.lab);
        const mark = auditMark(ground.lab);
        const before = [ours, floor].map(({ running }) => cpuTime(running.pid));
        await sleep(60_000, undefined, { signal });
        await settleAudit(ground.lab);
        const entries = await auditEntries(ground.lab, mark);
        for (const [index, one] of [ours, floor].entries())
          one.minutes.push({
            requests: entries.filter(({ userAgent }) => userAgent === one.agent),
            connections: connections(one.running.pid),
            cpuMs: cpuTime(one.running.pid) - (before[index] ?? 0),
          });
      }
    });
  } finally {
    await Promise.all([ours.running.end(), floor.running.end()]);
  }

  const floorIs = "bare watches and lease";
  const figure = (what: string, unit: Figure["unit"], value: (minute: Minute) => number, atMost?: number): Figure =>
    compare({
      what: `idle: ${what}`,
      unit,
      ours: ours.minutes.map(value),
      floor: floor.minutes.map(value),
      floorIs,
      ...(atMost === undefined ? {} : { atMost }),
      ...noteOf(what === others ? ours.minutes.flatMap(({ requests }) => requests.filter(isOther)) : []),
    });
  return [
    figure("lease requests", "a minute", ({ requests }) => count(requests.filter(isLease))),
    figure("watches begun", "a minute", ({ requests }) => count(requests.filter(isWatch))),
    figure(others, "a minute", ({ requests }) => count(requests.filter(isOther)), 0),
    figure("connections", "at once", (minute) => minute.connections, 2),
    figure("CPU a minute", "ms", (minute) => minute.cpuMs),
  ];
}

const others = "all other requests";
const isLease = ({ resource }: AuditEntry): boolean => resource === "leases";
const isWatch = ({ verb, resource }: AuditEntry): boolean => verb === "watch" && resource !== "leases";
const isOther = (entry: AuditEntry): boolean => !isLease(entry) && !isWatch(entry);
const count = (entries: readonly AuditEntry[]): number =>
  countRequests(entries, []).reduce((sum, { count }) => sum + count, 0);

/** Which requests they were that should not have been. */
function noteOf(entries: readonly AuditEntry[]): { note?: string } {
  const counts = countRequests(entries, ["verb", "resource", "code"]);
  return counts.length === 0 ? {} : { note: counts.map(({ of, count }) => `${count} ${of.join(" ")}`).join(", ") };
}
