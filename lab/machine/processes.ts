// Finds every process of a lab by its environment, network namespace or cgroup, also when all files of the lab are gone,
// and kills them.
import * as fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type LabConfig, type LabNode, labMark, labNodes } from "../config.ts";
import { startTimeOf } from "./daemon.ts";

interface LabProcess {
  readonly pid: number;
  readonly command: string;
  /** Started by the lab itself. The others are containers and their shims. */
  readonly daemon: boolean;
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return ""; // the process is gone, or is a kernel thread
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

/** Agents and containers of the node: processes in its network namespace or below its cgroup. */
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
    if (startTimeOf(pid) === undefined) continue; // a zombie
    const command = read(`/proc/${pid}/cmdline`).split("\0").join(" ").trim();
    found.push({ pid, command, daemon: isDaemon(pid) && !command.includes("containerd-shim") });
  }
  return found;
}

export const labProcesses = (lab: LabConfig): LabProcess[] =>
  find([marked(lab), ...labNodes(lab).map(onNode)], marked(lab));

export const nodeProcesses = (lab: LabConfig, node: LabNode): LabProcess[] => find([onNode(node)], marked(lab));

/** Kills all at once, so that none has time to start another, and lists again until none is left. */
export async function killProcesses(list: () => LabProcess[], timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (let left = list(); left.length > 0; left = list()) {
    if (Date.now() > deadline) {
      const names = left.map(({ pid, command }) => `${pid} ${command.slice(0, 80)}`).join("; ");
      throw new Error(`these processes survive SIGKILL: ${names}`);
    }
    for (const { pid } of left) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // it ended in the meantime
      }
    }
    await sleep(30);
  }
}
