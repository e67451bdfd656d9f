// Runs suites that mostly wait in a process of their own, on a lab of their own, while the others run here.
import { fork } from "node:child_process";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { dim, say } from "../lab/progress.ts";
import { root } from "./suites.ts";

interface SuitesResult {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly string[];
}

/** True in a process that `runInParallel` started. */
export const isParallel: boolean = process.send !== undefined;

/** The process that runs the suites ends by sending this, if it was started here. */
export function sendResult(result: SuitesResult): void {
  process.send?.(result);
}

/** Shows each line that it prints, with a mark. On interruption it takes its lab down itself, so it is signalled and awaited. */
export function runInParallel(suites: readonly string[], interrupted: AbortSignal): Promise<SuitesResult> {
  const child = fork(path.join(root, "test/run.ts"), [...suites, "--own-lab"], { cwd: root, silent: true });
  const interrupt = (): void => void child.kill("SIGTERM");
  interrupted.addEventListener("abort", interrupt);
  for (const input of [child.stdout, child.stderr])
    if (input !== null) createInterface({ input }).on("line", (line) => say(`${dim("┃")} ${line}`));
  let result: SuitesResult | undefined;
  child.on("message", (message) => {
    if (isResult(message)) result = message;
  });
  return new Promise((resolve) => {
    const end = (failure: string): void => {
      interrupted.removeEventListener("abort", interrupt);
      resolve(result ?? { passed: 0, failed: 1, failures: [`${suites.join(", ")}: ${failure}`] });
    };
    child.on("error", (error) => end(error.message));
    child.on("close", (code, signal) => end(`their process ended with ${signal ?? code}`));
  });
}

function isResult(message: unknown): message is SuitesResult {
  return typeof message === "object" && message !== null && "passed" in message && "failures" in message;
}
