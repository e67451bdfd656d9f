// The lab's long-running processes. Each has a record (pid, start time, command line), so that a later command can find
// it, never mistakes a reused pid for it, and can start it again with the same command line.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type LabConfig, labMark, logPath, pidPath } from "../config.ts";

export interface Daemon {
  readonly component: string;
  readonly pid: number;
  /** Ticks since boot, field 22 of /proc/PID/stat: together with the pid it identifies one process. */
  readonly startTime: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Undefined when there is no such process, or it is a zombie. */
export function startTimeOf(pid: number): string | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

export function startDaemon(
  lab: LabConfig,
  component: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Daemon {
  const [command, ...args] = argv;
  if (command === undefined) throw new Error(`no command for ${component}`);
  fs.mkdirSync(path.dirname(logPath(lab, component)), { recursive: true });
  fs.mkdirSync(path.dirname(pidPath(lab, component)), { recursive: true });
  const log = fs.openSync(logPath(lab, component), "a");
  // The folder may go with whoever starts it, as one of a run of tests does: the daemon stays.
  const { TMPDIR: _, ...inherited } = process.env;
  const child = spawn(command, args, {
    detached: true,
    stdio: ["ignore", log, log],
    env: { ...inherited, ...env, [labMark]: lab.name },
  });
  fs.closeSync(log);
  // Whoever waits for it to be ready sees whether it stays up; without a listener Node would throw here.
  child.on("error", () => {});
  child.unref();
  const pid = child.pid;
  const startTime = pid === undefined ? undefined : startTimeOf(pid);
  if (pid === undefined || startTime === undefined) throw new Error(`${component} did not start: ${command}`);
  const daemon: Daemon = { component, pid, startTime, argv, env };
  fs.writeFileSync(pidPath(lab, component), JSON.stringify(daemon));
  return daemon;
}

export function readDaemon(lab: LabConfig, component: string): Daemon | undefined {
  try {
    return JSON.parse(fs.readFileSync(pidPath(lab, component), "utf8")) as Daemon;
  } catch {
    return undefined;
  }
}

export const isAlive = (daemon: Daemon): boolean => startTimeOf(daemon.pid) === daemon.startTime;

/** Every recorded daemon of the lab that still runs. */
export function aliveDaemons(lab: LabConfig): Daemon[] {
  let names: string[];
  try {
    names = fs.readdirSync(path.join(lab.state, "run"));
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith(".pid"))
    .map((name) => readDaemon(lab, name.slice(0, -".pid".length)))
    .filter((daemon) => daemon !== undefined)
    .filter(isAlive);
}

export function signalDaemon(daemon: Daemon, signal: NodeJS.Signals): boolean {
  if (!isAlive(daemon)) return false;
  try {
    return process.kill(daemon.pid, signal);
  } catch {
    return false;
  }
}

/** Sends the signal and waits until the process is gone, whoever its parent is. */
export async function stopDaemon(
  daemon: Daemon,
  signal: NodeJS.Signals = "SIGKILL",
  timeoutMs = 60_000,
): Promise<void> {
  signalDaemon(daemon, signal);
  const deadline = Date.now() + timeoutMs;
  while (isAlive(daemon)) {
    if (Date.now() > deadline)
      throw new Error(`${daemon.component} (pid ${daemon.pid}) did not end within ${timeoutMs} ms`);
    await sleep(20);
  }
}

/** Starts a daemon again with the command line that it had. */
export function restartDaemon(lab: LabConfig, daemon: Daemon): Daemon {
  return startDaemon(lab, daemon.component, daemon.argv, daemon.env);
}
