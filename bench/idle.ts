// A runtime with nothing to do: what it still asks of the API server, by the server's own log, how many connections it
// keeps, and what CPU it uses. Beside it a bare program that keeps the same watches and the same lease.
import { setTimeout as sleep } from "node:timers/promises";
import { auditEntries, auditMark, countRequests, settleAudit } from "../lab/audit/audit.ts";
import type { AuditEntry } from "../lab/audit/audit-log.ts";
import { kubeconfigPath } from "../lab/config.ts";
import { step } from "../lab/progress.ts";
import type { Ground } from "./ground.ts";
import { leaseIsHeld } from "./lease.ts";
import { compare, type Figure } from "./measure.ts";
import { connections, cpuTime } from "./process.ts";
import { type Running, startOnHost } from "./program.ts";
import { podEnvironment } from "./programs/settings.ts";

interface Minute {
  readonly requests: readonly AuditEntry[];
  readonly connections: number;
  readonly cpuMs: number;
}

export async function idle(ground: Ground): Promise<Figure[]> {
  const { lab, signal, options } = ground;
  const namespace = await ground.namespace();
  await using ours = await start(ground, "pod", namespace);
  await using floor = await start(ground, "bare-pod", namespace);
  await step(`idle for ${options.idleMinutes} minutes`, async () => {
    for (let minute = 0; minute < options.idleMinutes; minute += 1) {
      await settleAudit(lab);
      const mark = auditMark(lab);
      ours.beginMinute();
      floor.beginMinute();
      await sleep(60_000, undefined, { signal });
      await settleAudit(lab);
      const entries = await auditEntries(lab, mark);
      ours.endMinute(entries);
      floor.endMinute(entries);
    }
  });

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

class Idler implements AsyncDisposable {
  readonly minutes: Minute[] = [];
  readonly #running: Running;
  readonly #userAgent: string;
  #cpuBefore = 0;

  constructor(running: Running, userAgent: string) {
    this.#running = running;
    this.#userAgent = userAgent;
  }

  beginMinute(): void {
    this.#cpuBefore = cpuTime(this.#running.pid);
  }

  endMinute(entries: readonly AuditEntry[]): void {
    this.minutes.push({
      requests: entries.filter(({ userAgent }) => userAgent === this.#userAgent),
      connections: connections(this.#running.pid),
      cpuMs: cpuTime(this.#running.pid) - this.#cpuBefore,
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#running[Symbol.asyncDispose]();
  }
}

/** Gives back a program that has come to rest. */
async function start(ground: Ground, name: "pod" | "bare-pod", namespace: string): Promise<Idler> {
  const lease = `${namespace}-${name}`;
  const env = {
    ...podEnvironment({ namespace, lease, listen: "127.0.0.1:0" }),
    KUBECONFIG: kubeconfigPath(ground.lab),
    BENCH_ACCESS: JSON.stringify(await ground.access(lease)),
  };
  await using rising = new AsyncDisposableStack();
  const running = rising.use(await startOnHost(name, env, ground.signal));
  await leaseIsHeld(ground, { namespace, name: lease });
  rising.move();
  return new Idler(running, lease);
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
