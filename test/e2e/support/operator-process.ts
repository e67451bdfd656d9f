// An operator as a local process that runs the sources directly, with its own flags and, optionally, a crash after this many
// writes. Each is limited to its namespaces, so several run side by side.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import { Lease } from "../../../src/kube/objects/kinds.ts";
import { programs } from "../../../src/programs.ts";
import { kube } from "./environment.ts";
import { root } from "../../suites.ts";

interface OperatorOptions {
  /** The namespace of its Lease, and its default scope. */
  readonly namespace: string;
  readonly flags?: readonly string[];
  /** The code that it runs: of this tree, or of the operator before this one. */
  readonly code?: "present" | "earlier";
  /** A file of this folder, loaded before the operator. */
  readonly preload?: string;
  /** Number of writes after which it is killed; default: never. */
  readonly crashAfter?: number;
  /** Called for each write, as in `POST pods`. */
  readonly onChange?: (change: string) => void;
  /** Called for each log line. */
  readonly onLine?: (line: string) => void;
}

const running = new Set<OperatorProcess>();
after(() => Promise.all([...running].map((operator) => operator.kill())));

export class OperatorProcess {
  readonly #child: ChildProcess;
  /** Resolves when the process has exited and its output is read. */
  readonly ended: Promise<void>;
  /** The last log lines. */
  readonly #lastLines: string[] = [];

  constructor({ namespace, crashAfter = Number.POSITIVE_INFINITY, ...options }: OperatorOptions) {
    const entry = options.code === "earlier" ? "test/e2e/support/earlier-operator.ts" : "src/main.ts";
    const preloads = ["crash-after.ts", ...(options.preload === undefined ? [] : [options.preload])];
    const imports = preloads.flatMap((file) => ["--import", path.join(import.meta.dirname, file)]);
    const flags = ["-create-crd=false", "-listen-addr=0", ...(options.flags ?? [])];
    this.#child = spawn(process.execPath, [...imports, path.join(root, entry), ...flags], {
      cwd: root,
      env: { ...process.env, MY_POD_NAMESPACE: namespace, MY_POD_NAME: "operator", CRASH_AFTER: String(crashAfter) },
      // An open standard input: it ends with this process, which may be killed.
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error("the operator has no output pipes");
    const lines = [stdout, stderr].map((input) => createInterface({ input }));
    for (const line of lines) line.on("line", (text) => this.#onLine(text, options));
    const ends = [once(this.#child, "exit"), ...lines.map((line) => once(line, "close"))];
    this.ended = Promise.all(ends).then(() => void running.delete(this));
    running.add(this);
  }

  get wasKilled(): boolean {
    return this.#child.signalCode === "SIGKILL";
  }

  get lastWords(): string {
    return `${this.#child.signalCode ?? `exit code ${this.#child.exitCode}`}: ${this.#lastLines.join("\n")}`;
  }

  /** Rejects if the operator exits first. */
  during<T>(work: Promise<T>): Promise<T> {
    const ended = this.ended.then(() => {
      throw new Error(`the operator exited: ${this.lastWords}`);
    });
    return Promise.race([work, ended]);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  #onLine(line: string, { onChange, onLine }: Pick<OperatorOptions, "onChange" | "onLine">): void {
    const change = /^\{"change":"(?<change>.*)"\}$/.exec(line)?.groups?.["change"];
    if (change !== undefined) return onChange?.(change);
    onLine?.(line);
    if (this.#lastLines.push(line) > 20) this.#lastLines.shift();
  }
}

/** The Leases of a killed leader would make the next one wait 15 s each time. */
export async function deleteLeases(namespace: string): Promise<void> {
  for (const name of programs)
    await kube.delete(Lease, { namespace, name }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
}
