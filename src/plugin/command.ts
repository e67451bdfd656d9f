// A command of the plugin as one row: how it is called, what it does, which permissions it needs, and the function that does it.
// The parser, the help, the completion and docs/kubectl-etcd.md are made from these rows.
import type { Flags } from "./line/flags.ts";
import type { Kubectl } from "./place/kubectl.ts";
import type { Reach } from "./place/reach.ts";
import type { Screen } from "./screen/screen.ts";

export interface FlagRow {
  readonly name: string;
  /** One letter, as in -n. */
  readonly short?: string;
  /** What stands for its value in the help, as in NAME. Absent: it takes none. */
  readonly value?: string;
  readonly oneOf?: readonly string[];
  readonly repeats?: true;
  readonly what: string;
}

export interface ArgumentRow {
  readonly name: string;
  /** `rest`: all that follows, flags included, is handed on as it is. */
  readonly is: "needed" | "optional" | "rest";
  /** What it names, so that the shell can complete it. */
  readonly of?: "cluster" | "member";
}

export interface Permission {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  /** Nodes are in no namespace: a ClusterRole grants this permission. */
  readonly scope?: "cluster";
  /** What is missing without it. Absent: the command needs it. */
  readonly without?: string;
}

export interface Example {
  readonly what: string;
  /** What is typed after `kubectl etcd`. */
  readonly line: string;
}

/** 0: done. 1: refused, failed, or something is wrong. 2: the command line cannot be used. */
export type ExitCode = 0 | 1 | 2;

export interface Command {
  readonly name: string;
  /** In a line. */
  readonly what: string;
  readonly details?: string;
  readonly arguments: readonly ArgumentRow[];
  readonly flags: readonly FlagRow[];
  readonly examples: readonly Example[];
  readonly permissions: readonly Permission[];
  run(call: Call): Promise<ExitCode>;
}

export type Output = "text" | "json" | "yaml";

/** One call of a command, with all that it may use. */
export interface Call {
  readonly arguments: readonly string[];
  readonly flags: Flags;
  readonly output: Output;
  readonly screen: Screen;
  readonly kubectl: Kubectl;
  /** The Kubernetes that the user chose, as that user. */
  readonly reach: () => Promise<Reach>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}
