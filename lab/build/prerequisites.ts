// Checks that a lab can run on this machine. Each thing that is missing is one sentence that says what to do.
import { readdir, readFile, readlink, statfs } from "node:fs/promises";
import { homedir, totalmem } from "node:os";
import { run } from "../machine/command.ts";
import { exists } from "./cache.ts";
import { findProgram } from "./packages.ts";

const gibibyte = 1024 ** 3;
const neededMemory = 4 * gibibyte;
/** Go's own caches take 6 GB when everything is built, programs and archives 2 GB, a running lab's images 3 GB. */
const neededDisk = 12 * gibibyte;
/** The newest etcd requires it. Go 1.21 and later download that toolchain themselves where they are allowed to. */
const neededGo = { major: 1, minor: 26 };

type Check = () => Promise<string | undefined>;

const checks: readonly Check[] = [
  system,
  user,
  memory,
  disk,
  go,
  namespaces,
  overlay,
  loop,
  packetFilter,
  cgroups,
  watchers,
];

export async function checkMachine(): Promise<string[]> {
  const complaints: string[] = [];
  for (const check of checks) {
    const complaint = await check();
    if (complaint !== undefined) complaints.push(complaint);
    // On another system all other findings would be noise.
    if (check === system && complaint !== undefined) break;
  }
  return complaints;
}

async function system(): Promise<string | undefined> {
  if (process.platform === "linux" && (process.arch === "x64" || process.arch === "arm64")) return undefined;
  return `The lab runs on Linux on x64 or arm64, and this is ${process.platform} on ${process.arch}: use a virtual machine.`;
}

async function user(): Promise<string | undefined> {
  return process.getuid?.() === 0 ? undefined : "The lab makes network namespaces and mounts: run it as root.";
}

async function memory(): Promise<string | undefined> {
  if (totalmem() >= neededMemory) return undefined;
  return `The machine has ${gigabytes(totalmem())} of memory and the lab needs ${gigabytes(neededMemory)}: use a larger one.`;
}

async function disk(): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(homedir());
  const free = bavail * bsize;
  if (free >= neededDisk) return undefined;
  return `${homedir()} has ${gigabytes(free)} free and a first build needs ${gigabytes(neededDisk)}: make room, or point HOME at a larger disk.`;
}

const gigabytes = (bytes: number): string => `${(bytes / gibibyte).toFixed(1)} GiB`;

async function go(): Promise<string | undefined> {
  const advice = `install Go ${neededGo.major}.${neededGo.minor} or later from go.dev/dl and put it on PATH.`;
  if ((await findProgram("go")) === undefined)
    return `Go is missing, and the lab's programs are built with it: ${advice}`;
  const printed = await run("go", ["version"]);
  const toolchain = (await run("go", ["env", "GOTOOLCHAIN"])).trim();
  return isGoEnough(printed, toolchain) ? undefined : `${printed.trim()} is too old for the lab's programs: ${advice}`;
}

export function isGoEnough(printed: string, toolchain: string): boolean {
  const [, major, minor] = /\bgo(\d+)\.(\d+)/.exec(printed) ?? [];
  const version = { major: Number(major), minor: Number(minor) };
  if (version.major !== neededGo.major) return version.major > neededGo.major;
  const fetches = toolchain !== "local" && version.minor >= 21;
  return version.minor >= neededGo.minor || fetches;
}

/** Runs the command in a network namespace that is gone when it ends. */
async function inFreshNamespace(needs: string, ...command: string[]): Promise<"works" | "fails" | "unknown"> {
  // Another check reports a missing root or package; this one is about the kernel.
  if (process.getuid?.() !== 0) return "unknown";
  if ((await findProgram("unshare")) === undefined || (await findProgram(needs)) === undefined) return "unknown";
  return run("unshare", ["--net", needs, ...command]).then(
    () => "works",
    () => "fails",
  );
}

async function namespaces(): Promise<string | undefined> {
  if (!(await exists("/proc/self/ns/net")))
    return "The kernel has no network namespaces (CONFIG_NET_NS): use a kernel of a common distribution.";
  const links = {
    bridges: ["link", "add", "probe0", "type", "bridge"],
    "virtual cables (veth)": ["link", "add", "probe0", "type", "veth", "peer", "name", "probe1"],
  };
  for (const [what, command] of Object.entries(links))
    if ((await inFreshNamespace("ip", ...command)) === "fails")
      return `The kernel cannot make ${what} here: load the module (modprobe bridge veth), or run where network namespaces are allowed.`;
  return undefined;
}

async function overlay(): Promise<string | undefined> {
  if (hasOverlay(await readFile("/proc/filesystems", "utf8"))) return undefined;
  if ((await findProgram("modprobe")) !== undefined) {
    await run("modprobe", ["overlay"]).catch(() => undefined);
    if (hasOverlay(await readFile("/proc/filesystems", "utf8"))) return undefined;
  }
  return "The kernel has no overlay file system, which containers need: load the module (modprobe overlay).";
}

const hasOverlay = (filesystems: string): boolean => /\toverlay$/m.test(filesystems);

async function loop(): Promise<string | undefined> {
  if (await exists("/dev/loop-control")) return undefined;
  return "There are no loop devices, which volumes need: load the module (modprobe loop).";
}

async function packetFilter(): Promise<string | undefined> {
  if ((await inFreshNamespace("iptables", "-w", "-t", "nat", "-S")) !== "fails") return undefined;
  return "iptables cannot use the nat table, which services need: load the module (modprobe nf_tables nft_chain_nat, or iptable_nat).";
}

async function cgroups(): Promise<string | undefined> {
  const unified = await readFile("/sys/fs/cgroup/cgroup.controllers", "utf8").catch(() => undefined);
  const missing = missingControllers(unified, await readFile("/proc/self/mounts", "utf8"));
  if (missing.length === 0) return undefined;
  return `The cgroup controllers ${missing.join(", ")} are missing, and the kubelet needs them: enable them for this machine or container.`;
}

/** cgroup v2 lists its controllers in one file; v1 mounts each, alone or a few together. */
export function missingControllers(unified: string | undefined, mounts: string): string[] {
  const wanted = ["cpu", "memory", "pids", "cpuset"];
  const present = new Set(
    unified !== undefined
      ? unified.trim().split(/\s+/)
      : mounts
          .split("\n")
          .map((line) => line.split(" "))
          .filter(([, , type]) => type === "cgroup")
          .flatMap(([, , , options]) => options?.split(",") ?? []),
  );
  return wanted.filter((controller) => !present.has(controller));
}

/** inotify instances that containerd, kubelet and kube-proxy of three nodes and their containers use. */
const neededWatchers = 36;

/** A kubelet that finds none left does not start, and hides the reason in its log. */
async function watchers(): Promise<string | undefined> {
  const most = Number(await readFile("/proc/sys/fs/inotify/max_user_instances", "utf8"));
  const used = await watchersInUse();
  if (most - used >= neededWatchers) return undefined;
  return `${used} of the ${most} inotify instances of a user are in use, and a lab of three nodes needs ${neededWatchers}: take another lab down, or allow more (sysctl -w fs.inotify.max_user_instances=1024).`;
}

/** Counts those of all processes, since the lab runs everything as root. Processes that end meanwhile have none. */
async function watchersInUse(): Promise<number> {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const counts = await Promise.all(
    processes.map(async (id) => {
      const files = await readdir(`/proc/${id}/fd`).catch(() => []);
      const targets = await Promise.all(files.map((file) => readlink(`/proc/${id}/fd/${file}`).catch(() => "")));
      return targets.filter((target) => target === "anon_inode:inotify").length;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
