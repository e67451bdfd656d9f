// The operator's command line, read as Go's flag package does: one dash or two, a value after `=` or as the next
// argument, and a bare boolean flag means true.
import type { ChaosLevel } from "./cluster/chaos.ts";
import { type ListenAddress, parseListenAddress } from "./kube/process/listen-address.ts";

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

const known: Readonly<Record<string, "boolean" | "text">> = {
  "create-crd": "boolean",
  "cluster-wide": "boolean",
  namespaces: "text",
  "listen-addr": "text",
  version: "boolean",
  backup: "boolean",
  restore: "boolean",
  "worker-image": "text",
  "chaos-level": "text",
  // A flag of etcd-operator 0.9: accepted, and ignored.
  "gc-interval": "text",
};

export function parseFlags(args: readonly string[]): Flags {
  const values = valuesOf(args);
  const flags: Flags = {
    createCrd: truth(values, "create-crd", true),
    clusterWide: truth(values, "cluster-wide", false),
    namespaces: (values.get("namespaces") ?? "")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
    listenAddr: values.get("listen-addr") ?? "0.0.0.0:8080",
    version: truth(values, "version", false),
    backup: truth(values, "backup", true),
    restore: truth(values, "restore", true),
    workerImage: values.get("worker-image") ?? "",
    chaosLevel: chaosLevel(values.get("chaos-level") ?? "-1"),
  };
  requireAddress(flags.listenAddr);
  requireDuration(values.get("gc-interval") ?? "10m");
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
    const type = Object.hasOwn(known, name) ? known[name] : undefined;
    if (type === undefined) throw new FlagError(`-${name} is not known: ${usage}.`);
    const given = value ?? (type === "boolean" ? "true" : left.shift());
    if (given === undefined) throw new FlagError(`-${name} needs a value, as in -${name}=….`);
    values.set(name, given);
  }
  return values;
}

const usage = `there are ${Object.keys(known)
  .map((name) => `-${name}`)
  .join(", ")}`;

const yes: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const no: ReadonlySet<string> = new Set(["0", "f", "F", "false", "FALSE", "False"]);

function truth(values: Values, name: string, otherwise: boolean): boolean {
  const text = values.get(name);
  if (text === undefined) return otherwise;
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
