// Finds every process of a lab from what the kernel says alone – the mark in its environment, its network namespace,
// its cgroup – so that it is found even when all files of the lab are gone, and ends them.
import * as fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type LabConfig, type LabNode, labMark, labNodes } from "./config.ts";
import { startTimeOf } from "./daemon.ts";

export interface LabProcess {
  readonly pid: number;
  readonly command: string;
  /** Started by the lab itself; the others are containers and what keeps them. */
  readonly daemon: boolean;
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return ""; // the process is gone, or is the kernel's
  }
}

function networkNamespace(file: string): string | undefined {
  try {
    return String(fs.statSync(file).ino);
  } catch {
    return undefined;
  }
}

type Belongs = (pid: number) => boolean;

/** Agents and containers of the node: whoever is in its network or below its control group. */
function onNode(node: LabNode): Belongs {
  const namespace = networkNamespace(`/run/netns/${node.netns}`);
  return (pid) =>
    (namespace !== undefined && networkNamespace(`/proc/${pid}/ns/net`) === namespace) ||
    read(`/proc/${pid}/cgroup`).includes(`/${node.netns}/`);
}

const marked =
  (lab: LabConfig): Belongs =>
  (pid) =>
    read(`/proc/${pid}/environ`).split("\0").includes(`${labMark}=${lab.name}`);

function find(belongs: readonly Belongs[], isDaemon: Belongs): LabProcess[] {
  const found: LabProcess[] = [];
  for (const entry of fs.readdirSync("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid || !belongs.some((does) => does(pid))) continue;
    if (startTimeOf(pid) === undefined) continue; // dead already, only not reaped
    const command = read(`/proc/${pid}/cmdline`).split("\0").join(" ").trim();
    found.push({ pid, command, daemon: isDaemon(pid) && !command.includes("containerd-shim") });
  }
  return found;
}

export const labProcesses = (lab: LabConfig): LabProcess[] =>
  find([marked(lab), ...labNodes(lab).map(onNode)], marked(lab));

export const nodeProcesses = (lab: LabConfig, node: LabNode): LabProcess[] => find([onNode(node)], marked(lab));

/** Ends them all at once, as a power cut does, so that none has time to start another; looks again until none is left. */
export async function killProcesses(look: () => LabProcess[], timeoutMs = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (let left = look(); left.length > 0; left = look()) {
    if (Date.now() > deadline) {
      const names = left.map(({ pid, command }) => `${pid} ${command.slice(0, 80)}`).join("; ");
      throw new Error(`these processes do not end: ${names}`);
    }
    for (const { pid } of left) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // ended by itself between the look and the blow
      }
    }
    await sleep(30);
  }
}
