// The plugin from its command line to its exit code. Whatever goes wrong is a sentence on standard error.
import type { ExitCode, Output } from "./command.ts";
import { commands } from "./commands.ts";
import type { Flags } from "./line/flags.ts";
import { helpOf } from "./line/help.ts";
import { type Line, parseLine } from "./line/parse.ts";
import { UsageError } from "./line/usage-error.ts";
import { entered, enteredKubectl } from "./place/entrance.ts";
import { type Kubectl, kubectlOf } from "./place/kubectl.ts";
import { type Reach, reachOf } from "./place/reach.ts";
import { sentenceOf } from "./place/sentences.ts";
import { type Screen, screenOf, type WhenColour } from "./screen/screen.ts";

/** What a run of the plugin stands on. */
interface Surroundings {
  screen(when: WhenColour): Screen;
  reach(flags: Flags): Reach;
  kubectl(flags: Flags): Kubectl;
  now(): number;
  readonly signal: AbortSignal;
}

export const ofProcess = (process: NodeJS.Process, signal: AbortSignal): Surroundings => ({
  screen: (when) => screenOf(process, when),
  reach: (flags) => reachOf(flags, process.env),
  kubectl: (flags) => kubectlOf(flags, process, signal),
  now: Date.now,
  signal,
});

export async function runProgram(words: readonly string[], around: Surroundings): Promise<ExitCode> {
  try {
    const line = parseLine(words, commands);
    if (line.t === "run") return await runCommand(line, around);
    around.screen("never").print(helpOf(line.of, commands));
    return 0;
  } catch (error) {
    if (around.signal.aborted) return 1;
    around.screen("never").note(sentenceOf(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

async function runCommand({ command, arguments: words, flags }: Line & { t: "run" }, around: Surroundings) {
  let reach: Reach | undefined;
  try {
    return await command.run({
      arguments: words,
      flags,
      // Both are checked by their rows.
      output: (flags.text("output") as Output | undefined) ?? "text",
      screen: around.screen((flags.text("color") as WhenColour | undefined) ?? "auto"),
      kubectl: enteredKubectl(around.kubectl(flags)),
      reach: async () => {
        reach ??= entered(around.reach(flags));
        return reach;
      },
      now: () => around.now(),
      signal: around.signal,
    });
  } finally {
    reach?.[Symbol.dispose]();
  }
}
