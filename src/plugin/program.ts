// The plugin from its command line to its exit code. Whatever goes wrong is a sentence on standard error.
import type { Command, ExitCode, Output } from "./command.ts";
import { commands } from "./commands.ts";
import { Flags } from "./line/flags.ts";
import { helpOf } from "./line/help.ts";
import { parseLine } from "./line/parse.ts";
import { UsageError } from "./line/usage-error.ts";
import { kubectlOf } from "./place/kubectl.ts";
import { type Reach, reachOf } from "./place/reach.ts";
import { sentenceOf } from "./place/sentences.ts";
import { type Screen, screenOf, type WhenColour } from "./screen/screen.ts";

export async function runProgram(process: NodeJS.Process, signal: AbortSignal): Promise<ExitCode> {
  try {
    const line = parseLine(process.argv.slice(2), commands);
    if (line.t === "help") {
      screenOf(process, "never").print(helpOf(line.of, commands));
      return 0;
    }
    const when = line.flags.text("color") as WhenColour | undefined; // checked by its row
    return await runCommand(
      line.command,
      line.arguments,
      line.flags,
      screenOf(process, when ?? "auto"),
      process,
      signal,
    );
  } catch (error) {
    if (signal.aborted) return 1;
    process.stderr.write(`${sentenceOf(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function runCommand(
  command: Command,
  words: readonly string[],
  flags: Flags,
  screen: Screen,
  process: NodeJS.Process,
  signal: AbortSignal,
): Promise<ExitCode> {
  let reach: Reach | undefined;
  try {
    return await command.run({
      arguments: words,
      flags,
      output: (flags.text("output") as Output | undefined) ?? "text", // checked by its row
      screen,
      kubectl: kubectlOf(flags, signal),
      reach: async () => {
        reach ??= reachOf(flags, process.env);
        return reach;
      },
      now: Date.now,
      signal,
    });
  } finally {
    reach?.[Symbol.dispose]();
  }
}
