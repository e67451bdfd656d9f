// An operator as a process of this machine, which runs the sources as they are, with flags of its own, and dies after so
// many changes, if it is told to. It looks after no more than it is given, so several run side by side.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import { Lease } from "../../../src/kube/objects/kinds.ts";
import { kube } from "./ground.ts";
import { root } from "../../suites.ts";

export interface OperatorOptions {
  /** Where its lease is, and what it looks after if its flags do not say. */
  readonly namespace: string;
  readonly flags?: readonly string[];
  /** A file of this folder that is loaded before its own program. */
  readonly preload?: string;
  /** Infinity, or left out: it does not. */
  readonly dieAfter?: number;
  /** Told each change that it made, in a few words. */
  readonly onChange?: (change: string) => void;
  /** Told each line of its log. */
  readonly onLine?: (line: string) => void;
}

const running = new Set<OperatorProcess>();
after(() => Promise.all([...running].map((operator) => operator.kill())));

export class OperatorProcess {
  readonly #child: ChildProcess;
  /** Resolves when it is dead and all that it said was heard. */
  readonly ended: Promise<void>;
  /** The last that it said about anything but changes. */
  readonly #words: string[] = [];

  constructor({ namespace, dieAfter = Number.POSITIVE_INFINITY, ...options }: OperatorOptions) {
    const preloads = ["crash-after.ts", ...(options.preload === undefined ? [] : [options.preload])];
    const imports = preloads.flatMap((file) => ["--import", path.join(import.meta.dirname, file)]);
    const flags = ["-create-crd=false", "-listen-addr=0", ...(options.flags ?? [])];
    this.#child = spawn(process.execPath, [...imports, path.join(root, "src/main.ts"), ...flags], {
      cwd: root,
      env: { ...process.env, MY_POD_NAMESPACE: namespace, MY_POD_NAME: "operator", CRASH_AFTER: String(dieAfter) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error("the operator cannot be heard");
    const lines = [stdout, stderr].map((input) => createInterface({ input }));
    for (const line of lines) line.on("line", (text) => this.#heard(text, options));
    const ends = [once(this.#child, "exit"), ...lines.map((line) => once(line, "close"))];
    this.ended = Promise.all(ends).then(() => void running.delete(this));
    running.add(this);
  }

  get wasKilled(): boolean {
    return this.#child.signalCode === "SIGKILL";
  }

  get lastWords(): string {
    return `${this.#child.signalCode ?? `exit code ${this.#child.exitCode}`}: ${this.#words.join("\n")}`;
  }

  /** Waits for something while it lives. */
  during<T>(work: Promise<T>): Promise<T> {
    const ended = this.ended.then(() => {
      throw new Error(`the operator ended by itself, with ${this.lastWords}`);
    });
    return Promise.race([work, ended]);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  #heard(line: string, { onChange, onLine }: Pick<OperatorOptions, "onChange" | "onLine">): void {
    const change = /^\{"change":"(?<change>.*)"\}$/.exec(line)?.groups?.["change"];
    if (change !== undefined) return onChange?.(change);
    onLine?.(line);
    if (this.#words.push(line) > 20) this.#words.shift();
  }
}

/** What a dead leader leaves behind would keep the next one waiting for 15 s, each time; nobody holds it any more. */
export async function forgetLeader(namespace: string): Promise<void> {
  try {
    await kube.delete(Lease, { namespace, name: "etcd-operator" });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
