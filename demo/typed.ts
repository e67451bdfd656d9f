// Runs a command line as a person would type it, and shows the line and its output.
import { CommandError, run, type RunOptions } from "../lab/machine/command.ts";
import { bold, columns, dim, patiently, say } from "../lab/progress.ts";
import { wrapped } from "../lab/width.ts";
import * as path from "node:path";

export const tree: string = path.resolve(import.meta.dirname, "..");

export async function type(line: string, options: Pick<RunOptions, "signal"> = {}): Promise<string> {
  showLine(line);
  const output = await patiently(shell(line, options));
  for (const text of output.trimEnd().split("\n")) if (text !== "") tell(text, dim);
  return output;
}

/** Indented, and wrapped at the edge of the terminal. */
export function tell(text: string, paint: (line: string) => string = (line) => line): void {
  for (const line of wrapped(text, columns() - 2)) say(`  ${paint(line)}`);
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
