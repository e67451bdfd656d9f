// A program that runs beside a test, with a log of its own, and never outlives it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";

export class Program implements AsyncDisposable {
  readonly #log: string;
  readonly #child: ChildProcess;

  constructor(log: string, program: string, ...args: readonly string[]) {
    this.#log = log;
    const output = openSync(log, "a");
    // The kernel kills it with this process, in case that one is killed before it can clean up.
    this.#child = spawn("setpriv", ["--pdeathsig", "KILL", "--", program, ...args], {
      stdio: ["ignore", output, output],
    });
    closeSync(output);
  }

  /** What it logged last. */
  get lastWords(): string {
    return readFileSync(this.#log, "utf8").slice(-2_000);
  }

  get #isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isRunning) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await gone;
  }
}
