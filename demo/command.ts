// What the commands of this folder have in common: the first Ctrl-C stops them in order, and a failure is a sentence.
import { say, red } from "../lab/progress.ts";

export async function command(main: (args: readonly string[], signal: AbortSignal) => Promise<void>): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => interrupted.abort(new Error(`Stopped by ${signal}; what is there stays.`)));
  try {
    await main(process.argv.slice(2), interrupted.signal);
  } catch (error) {
    const shown: unknown = interrupted.signal.aborted ? interrupted.signal.reason : error;
    say(red(shown instanceof Error ? shown.message : String(shown)));
    process.exitCode = 1;
  }
}
