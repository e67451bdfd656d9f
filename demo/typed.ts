// Runs a command line as a person would type it, and shows the line and its output.
import { CommandError, run, type RunOptions } from "../lab/machine/command.ts";
import { bold, dim, say } from "../lab/progress.ts";
import * as path from "node:path";

export const tree: string = path.resolve(import.meta.dirname, "..");

export async function type(line: string, options: Pick<RunOptions, "signal"> = {}): Promise<string> {
  showLine(line);
  const output = await shell(line, options);
  for (const text of output.trimEnd().split("\n")) if (text !== "") say(dim(`  ${text}`));
  return output;
}

export function showLine(line: string): void {
  say(`${dim("$")} ${bold(line)}`);
}

/** The same, without showing it. */
export async function shell(line: string, options: Pick<RunOptions, "signal"> = {}): Promise<string> {
  try {
    return await run("bash", ["-euo", "pipefail", "-c", line], { ...options, cwd: tree });
  } catch (error) {
    if (error instanceof CommandError) throw new TypedLineError(line, error.stderr);
    throw error;
  }
}

class TypedLineError extends Error {
  readonly line: string;

  constructor(line: string, said: string) {
    super(`"${line}" failed: ${said.trim().slice(-2000) || "no output"}`);
    this.name = "TypedLineError";
    this.line = line;
  }
}
