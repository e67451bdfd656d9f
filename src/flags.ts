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
  /** Whether the etcd-operator looks after EtcdBackups and EtcdRestores, too. */
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
      "Manage the clusters of all namespaces that no operator of their own namespace looks after, and those with the annotation `etcd.database.coreos.com/scope: clusterwide`.",
  },
  namespaces: {
    type: "text",
    fallback: "",
    absent: "its own",
    meaning: "Manage the clusters of these namespaces, separated by commas. Not together with `-cluster-wide`.",
  },
  "create-crd": {
    type: "boolean",
    fallback: "true",
    meaning: "Install the definitions of EtcdCluster, EtcdBackup and EtcdRestore, or bring them up to date.",
  },
  backup: { type: "boolean", fallback: "true", meaning: "Of `etcd-operator`: look after EtcdBackups, too." },
  restore: { type: "boolean", fallback: "true", meaning: "Of `etcd-operator`: look after EtcdRestores, too." },
  "worker-image": {
    type: "text",
    fallback: "",
    absent: "the operator's own",
    meaning: "The image of the pods that back up and restore.",
  },
  "listen-addr": {
    type: "text",
    fallback: "",
    absent: programs.map((program) => `\`${listenAddrOf(program)}\` (\`${program}\`)`).join(", "),
    meaning: "Where `/readyz`, `/healthz` and `/metrics` are served.",
  },
  version: { type: "boolean", fallback: "false", meaning: "Print the version and end." },
  "chaos-level": {
    type: "text",
    fallback: "-1",
    meaning:
      "Chaos testing, for clusters that you can lose: kills members at random, one about every minute (`1`), or up to five at once (`2`). Below 1: none.",
  },
  "gc-interval": {
    type: "text",
    fallback: "10m",
    meaning: "A flag of etcd-operator 0.9: accepted, and ignored.",
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
    throw new FlagError("-cluster-wide and -namespaces exclude each other: leave one out.");
  const wrong = flags.namespaces.find((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (wrong !== undefined) throw new FlagError(`-namespaces: "${wrong}" is not a valid namespace name.`);
  return flags;
}

function valuesOf(args: readonly string[]): Values {
  const values: Values = new Map();
  const left = [...args];
  for (let arg = left.shift(); arg !== undefined; arg = left.shift()) {
    const { name, value } = /^--?(?<name>[a-z][a-z-]*)(?:=(?<value>.*))?$/s.exec(arg)?.groups ?? {};
    if (name === undefined) throw new FlagError(`"${arg}" is not a flag: ${usage}.`);
    const type = typeOf.get(name);
    if (type === undefined) throw new FlagError(`-${name} is not known: ${usage}.`);
    const given = value ?? (type === "boolean" ? "true" : left.shift());
    if (given === undefined) throw new FlagError(`-${name} needs a value, as in -${name}=….`);
    values.set(name, given);
  }
  return values;
}

const usage = `there are ${[...typeOf.keys()].map((name) => `-${name}`).join(", ")}`;

const yes: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const no: ReadonlySet<string> = new Set(["0", "f", "F", "false", "FALSE", "False"]);

function truthOf(name: FlagName, text: string): boolean {
  if (!yes.has(text) && !no.has(text)) throw new FlagError(`-${name} is true or false, not "${text}".`);
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
  if (!/^-?\d+$/.test(text)) throw new FlagError(`-chaos-level is a number, not "${text}".`);
  const level = Number(text);
  if (level < 1) return undefined;
  if (level === 1 || level === 2) return level;
  throw new FlagError(`-chaos-level is 1 or 2, or -1 for none, not ${text}.`);
}

function requireDuration(text: string): void {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text))
    throw new FlagError(`-gc-interval is a duration such as 10m, not "${text}".`);
}
