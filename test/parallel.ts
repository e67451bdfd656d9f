// Runs a suite in a process of its own, on a lab of its own, while other suites run here: for one that mostly waits, and
// that breaks its Kubernetes on purpose.
import { fork } from "node:child_process";
import * as path from "node:path";
import { root } from "./suites.ts";

export interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly string[];
}

export interface ParallelResult extends SuiteResult {
  /** Everything that it printed. */
  readonly output: string;
}

/** The process that runs the suite ends by sending this, if it was started here. */
export function sendResult(result: SuiteResult): void {
  process.send?.(result);
}

/** On interruption the process takes its lab down itself, so it is signalled and awaited. */
export function runInParallel(suite: string, interrupted: AbortSignal): Promise<ParallelResult> {
  const child = fork(path.join(root, "test/run.ts"), [suite, "--own-lab"], { cwd: root, silent: true });
  const interrupt = (): void => void child.kill("SIGTERM");
  interrupted.addEventListener("abort", interrupt);
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => output.push(chunk));
  let result: SuiteResult | undefined;
  child.on("message", (message) => {
    if (isResult(message)) result = message;
  });
  return new Promise((resolve) => {
    const end = (failure: string): void => {
      interrupted.removeEventListener("abort", interrupt);
      const ended = result ?? { passed: 0, failed: 1, failures: [`${suite}: ${failure}`] };
      resolve({ ...ended, output: Buffer.concat(output).toString().trimEnd() });
    };
    child.on("error", (error) => end(error.message));
    child.on("close", (code, signal) => end(`its process ended with ${signal ?? code}`));
  });
}

function isResult(message: unknown): message is SuiteResult {
  return typeof message === "object" && message !== null && "passed" in message && "failures" in message;
}
