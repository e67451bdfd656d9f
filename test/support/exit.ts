// A program that may fail: how it ended and what it said.
import { spawn } from "node:child_process";

export interface Exit {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function exitOf(program: string, args: readonly string[], input = ""): Promise<Exit> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(input);
  });
}
