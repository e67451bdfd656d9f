// Runs a program and returns its output; the error of a failure has the end of its stderr, or else of its stdout.
import { spawn } from "node:child_process";

export class CommandError extends Error {
  readonly exitCode: number | null;
  readonly stderr: string;

  constructor(command: string, exitCode: number | null, stderr: string, stdout = "") {
    const said = (stderr.trim() || stdout.trim()).slice(-2000);
    super(`${command} ended with ${exitCode ?? "a signal"}${said === "" ? "" : `: ${said}`}`);
    this.name = "CommandError";
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

export interface RunOptions {
  cwd?: string;
  /** Added to this process's environment. */
  env?: Record<string, string>;
  input?: string | Buffer;
  signal?: AbortSignal;
}

export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      ...(options.signal ? { signal: options.signal } : {}),
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      const [out, err] = [Buffer.concat(stdout).toString(), Buffer.concat(stderr).toString()];
      if (code === 0) resolve(out);
      else reject(new CommandError([command, ...args].join(" ").slice(0, 300), code, err, out));
    });
    if (options.input !== undefined) child.stdin?.end(options.input);
  });
}

/** For commands whose failure is an expected answer: returns undefined instead of an error. */
export async function tryRun(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string | undefined> {
  try {
    return await run(command, args, options);
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}
