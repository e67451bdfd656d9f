// The operator's command line, read as Go's flag package does: one dash or two, a value after `=` or as the next
// argument, and a bare boolean flag means true.
import type { ChaosLevel } from "./cluster/chaos.ts";
import { type ListenAddress, parseListenAddress } from "./kube/process/listen-address.ts";
import { type Program, ports, programs } from "./programs.ts";

export interface Flags {
  readonly createCrd: boolean;
  readonly clusterWide: boolean;
  /** Empty: the operator's own. */
  readonly namespaces: readonly string[];
  readonly listenAddr: string;
  readonly version: boolean;
  /** Whether the etcd-operator manages EtcdBackups and EtcdRestores, too. */
  readonly backup: boolean;
  readonly restore: boolean;
  /** The image of the pods that do their work; empty: the operator's own. */
  readonly workerImage: string;
  /** How many members are killed at random; undefined: none. */
  readonly chaosLevel: ChaosLevel | undefined;
}

/** A command line that cannot be used. The program prints the sentence and exits with code 2. */
export class FlagError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FlagError";
  }
}

type Values = Map<string, string>;

/** One flag, with all that is known about it; docs/reference/flags.md is made from these rows. */
export interface Flag {
  readonly type: "boolean" | "text";
  readonly fallback: string;
  /** What the page shows where the fallback is empty or says too little. */
  readonly absent?: string;
  readonly meaning: string;
}

function listenAddrOf(program: Program): string {
  return `0.0.0.0:${ports[program]}`;
}

export const knownFlags = {
  "cluster-wide": {
    type: "boolean",
    fallback: "false",
    meaning:
      "Manage the clusters in all namespaces that have the annotation `etcd.database.coreos.com/scope: clusterwide`, and those that no operator of their own namespace manages.",
  },
  namespaces: {
    type: "text",
    fallback: "",
    absent: "its own",
    meaning: "Manage the clusters in these namespaces, separated by commas. Cannot be combined with `-cluster-wide`.",
  },
  "create-crd": {
    type: "boolean",
    fallback: "true",
    meaning: "Install or update the CRDs of EtcdCluster, EtcdBackup and EtcdRestore at start.",
  },
  backup: { type: "boolean", fallback: "true", meaning: "Also manage EtcdBackups. Applies only to `etcd-operator`." },
  restore: { type: "boolean", fallback: "true", meaning: "Also manage EtcdRestores. Applies only to `etcd-operator`." },
  "worker-image": {
    type: "text",
    fallback: "",
    absent: "the operator's own",
    meaning: "Image of the pods that back up and restore.",
  },
  "listen-addr": {
    type: "text",
    fallback: "",
    absent: programs.map((program) => `\`${listenAddrOf(program)}\` (\`${program}\`)`).join(", "),
    meaning: "Address that serves `/readyz`, `/healthz` and `/metrics`.",
  },
  version: { type: "boolean", fallback: "false", meaning: "Print the version and exit." },
  "chaos-level": {
    type: "text",
    fallback: "-1",
    meaning:
      "Kill random members, to test clusters that you can afford to lose: one about every minute (`1`), or up to five at once (`2`). Levels below 1 disable chaos.",
  },
  "gc-interval": {
    type: "text",
    fallback: "10m",
    meaning: "Inherited from etcd-operator 0.9; ignored.",
  },
} as const satisfies Readonly<Record<string, Flag>>;

type FlagName = keyof typeof knownFlags;

const typeOf: ReadonlyMap<string, Flag["type"]> = new Map(
  Object.entries(knownFlags).map(([name, { type }]) => [name, type]),
);

export function parseFlags(args: readonly string[], program: Program): Flags {
  const values = valuesOf(args);
  const text = (name: FlagName): string => values.get(name) ?? knownFlags[name].fallback;
  const truth = (name: FlagName): boolean => truthOf(name, text(name));
  const flags: Flags = {
    createCrd: truth("create-crd"),
    clusterWide: truth("cluster-wide"),
    namespaces: text("namespaces")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
    listenAddr: values.get("listen-addr") ?? listenAddrOf(program),
    version: truth("version"),
    backup: truth("backup"),
    restore: truth("restore"),
    workerImage: text("worker-image"),
    chaosLevel: chaosLevel(text("chaos-level")),
  };
  requireAddress(flags.listenAddr);
  requireDuration(text("gc-interval"));
  if (flags.clusterWide && flags.namespaces.length > 0)
    throw new FlagError("-cluster-wide and -namespaces are mutually exclusive: remove one of them.");
  const wrong = flags.namespaces.find((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (wrong !== undefined) throw new FlagError(`-namespaces: "${wrong}" is not a valid namespace name.`);
  return flags;
}

function valuesOf(args: readonly string[]): Values {
  const values: Values = new Map();
  const left = [...args];
  for (let arg = left.shift(); arg !== undefined; arg = left.shift()) {
    const { name, value } = /^--?(?<name>[a-z][a-z-]*)(?:=(?<value>.*))?$/s.exec(arg)?.groups ?? {};
    if (name === undefined) throw new FlagError(`"${arg}" is not a flag. ${usage}.`);
    const type = typeOf.get(name);
    if (type === undefined) throw new FlagError(`-${name} is not a known flag. ${usage}.`);
    const given = value ?? (type === "boolean" ? "true" : left.shift());
    if (given === undefined) throw new FlagError(`-${name} needs a value: write -${name}=….`);
    values.set(name, given);
  }
  return values;
}

const usage = `The flags are ${[...typeOf.keys()].map((name) => `-${name}`).join(", ")}`;

const yes: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const no: ReadonlySet<string> = new Set(["0", "f", "F", "false", "FALSE", "False"]);

function truthOf(name: FlagName, text: string): boolean {
  if (!yes.has(text) && !no.has(text)) throw new FlagError(`-${name} must be true or false, not "${text}".`);
  return yes.has(text);
}

function requireAddress(text: string): ListenAddress {
  try {
    return parseListenAddress(text);
  } catch (error) {
    throw new FlagError(`-listen-addr: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** Levels below 1 disable chaos, as in etcd-operator 0.9. */
function chaosLevel(text: string): ChaosLevel | undefined {
  if (!/^-?\d+$/.test(text)) throw new FlagError(`-chaos-level must be a number, not "${text}".`);
  const level = Number(text);
  if (level < 1) return undefined;
  if (level === 1 || level === 2) return level;
  throw new FlagError(`-chaos-level must be 1 or 2, or -1 to disable chaos, not ${text}.`);
}

function requireDuration(text: string): void {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text))
    throw new FlagError(`-gc-interval must be a duration such as 10m, not "${text}".`);
}
