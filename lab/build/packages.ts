// The Debian packages that the lab needs. It looks for their programs, so that a machine that has those from elsewhere is
// left as it is.
import { access, constants } from "node:fs/promises";
import * as path from "node:path";
import { UsageError } from "../config.ts";
import { say, step } from "../progress.ts";
import { withApt } from "./apt.ts";

interface Package {
  readonly name: string;
  /** Paths of a file that shows that the package is there; one is enough. */
  readonly programs: readonly string[];
  readonly why: string;
}

const packages: readonly Package[] = [
  { name: "containerd", programs: ["containerd", "ctr"], why: "runs the containers of each node" },
  { name: "runc", programs: ["runc"], why: "is what containerd starts containers with" },
  {
    name: "containernetworking-plugins",
    programs: ["/usr/lib/cni/bridge", "/usr/lib/cni/host-local", "/usr/lib/cni/portmap"],
    why: "connects pods to their node's network",
  },
  { name: "busybox-static", programs: ["busybox"], why: "becomes the busybox image" },
  { name: "iptables", programs: ["iptables", "iptables-restore"], why: "carries service addresses for kube-proxy" },
  { name: "conntrack", programs: ["conntrack"], why: "lets kube-proxy forget connections to pods that are gone" },
  { name: "socat", programs: ["socat"], why: "is what the kubelet forwards ports with" },
  { name: "iproute2", programs: ["ip", "tc"], why: "makes the nodes' networks" },
  { name: "util-linux", programs: ["nsenter", "unshare", "flock", "losetup"], why: "starts programs inside a node" },
  { name: "procps", programs: ["sysctl"], why: "lets nodes forward packets" },
  { name: "mount", programs: ["mount", "umount"], why: "mounts volumes" },
  { name: "xfsprogs", programs: ["mkfs.xfs", "xfs_growfs"], why: "makes volumes that can grow while in use" },
  { name: "openssl", programs: ["openssl"], why: "makes the lab's certificates" },
  { name: "curl", programs: ["curl"], why: "sends the requests that docs and benchmarks make by hand" },
  { name: "binutils", programs: ["strip"], why: "makes the operator's image smaller" },
];

/** Only the tests need it: builds the Dockerfile without a daemon. */
const builder: Package = { name: "buildah", programs: ["buildah"], why: "builds the Dockerfile, without a daemon" };

/** Large, and only for tests of pages. */
const browser: Package = { name: "chromium", programs: ["chromium"], why: "opens the dashboard in its tests" };

/** System programs are in folders that a user's PATH often lacks. */
const searched = (): string[] => [
  ...new Set([...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/usr/bin", "/sbin", "/bin"]),
];

export async function findProgram(name: string): Promise<string | undefined> {
  const candidates = path.isAbsolute(name) ? [name] : searched().map((folder) => path.join(folder, name));
  for (const candidate of candidates) {
    const executable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return candidate;
  }
  return undefined;
}

async function missingOf(wanted: readonly Package[]): Promise<Package[]> {
  const missing: Package[] = [];
  for (const one of wanted) {
    const found = await Promise.all(one.programs.map(findProgram));
    if (found.includes(undefined)) missing.push(one);
  }
  return missing;
}

/** A system service of a package stays as Debian configures it; the lab starts its own daemons. */
export const ensurePackages = (): Promise<void> => ensure(packages);

export const ensureBuilder = (): Promise<void> => ensure([builder]);

/** Gives back its path. */
export async function ensureBrowser(): Promise<string> {
  await ensure([browser]);
  const [program = ""] = browser.programs;
  return (await findProgram(program)) ?? program;
}

async function ensure(wanted: readonly Package[]): Promise<void> {
  const missing = await missingOf(wanted);
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(" ");
  if ((await findProgram("apt-get")) === undefined)
    throw new UsageError(`Packages are missing, and this system has no apt-get. Install its packages for: ${names}.`);
  if (process.getuid?.() !== 0)
    throw new UsageError(`Packages are missing; install them as root with: apt-get install ${names}`);
  for (const { name, why } of missing) say(`  ${name} ${why}`);
  await step(`install ${names}`, (progress) =>
    withApt(progress, async (apt) => {
      progress.detail("reading package lists");
      await apt(["update"]);
      progress.detail("installing");
      await apt(["install", "--no-install-recommends", ...missing.map(({ name }) => name)]);
    }),
  );
  const still = await missingOf(wanted);
  if (still.length > 0)
    throw new Error(
      `The packages are installed, but their programs are not found: ${still.map(({ name }) => name).join(" ")}`,
    );
}
