// What the kernel says of a process: its memory, its CPU time, its open connections, and what its control group is
// charged for.
import * as fs from "node:fs";
import { unified } from "../lab/nodes/cgroups.ts";
import { cgroupOf } from "../lab/nodes/pods.ts";

const mebi = 1024 * 1024;

export interface ProcessMemory {
  /** All that is in RAM, in MiB; some 45 of it are the program file of Node, which the kernel shares and can drop. */
  readonly resident: number;
  /** What is this process's alone, in MiB. */
  readonly anonymous: number;
  /** The most that was ever resident. */
  readonly peak: number;
}

export function processMemory(pid: number): ProcessMemory {
  const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string): number => {
    const kibi = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1];
    if (kibi === undefined) throw new Error(`process ${pid} has no ${name}: it has ended`);
    return Number(kibi) / 1024;
  };
  return { resident: field("VmRSS"), anonymous: field("RssAnon"), peak: field("VmHWM") };
}

/** MiB that the process's control group is charged for without what the kernel would drop first; the kubelet evicts by it. */
export function workingSet(pid: number): number {
  const group = cgroupOf(pid, "memory");
  const used = unified() ? "memory.current" : "memory.usage_in_bytes";
  const droppable = unified() ? "inactive_file" : "total_inactive_file";
  const stat = fs.readFileSync(`${group}/memory.stat`, "utf8");
  const inactive = new RegExp(`^${droppable} (\\d+)$`, "m").exec(stat)?.[1];
  return (Number(fs.readFileSync(`${group}/${used}`, "utf8")) - Number(inactive)) / mebi;
}

const ticksPerSecond = 100;

/** Milliseconds of CPU since the process began. */
export function cpuTime(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name before it, in brackets, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

const established = "01";

/** TCP connections that stand. */
export function connections(pid: number): number {
  const sockets = new Set<string>();
  for (const file of fs.readdirSync(`/proc/${pid}/fd`)) {
    const inode = /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${file}`))?.[1];
    if (inode !== undefined) sockets.add(inode);
  }
  let count = 0;
  for (const table of ["tcp", "tcp6"]) {
    for (const line of fs.readFileSync(`/proc/${pid}/net/${table}`, "utf8").split("\n").slice(1)) {
      const [, , , state, , , , , , inode = ""] = line.trim().split(/\s+/);
      if (state === established && sockets.has(inode)) count += 1;
    }
  }
  return count;
}

/** A file may be closed between the list of the folder and the read of the file. */
function readLink(file: string): string {
  try {
    return fs.readlinkSync(file);
  } catch {
    return "";
  }
}
