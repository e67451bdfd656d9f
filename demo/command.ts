// Runs a command of this folder: the first Ctrl-C stops it in order, and an error is printed as one sentence.
import { say, red } from "../lab/progress.ts";

export async function command(main: (args: readonly string[], signal: AbortSignal) => Promise<void>): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () =>
      interrupted.abort(
        new Error(`Stopped by ${signal}; everything created so far stays, and the same command can be run again.`),
      ),
    );
  try {
    await main(process.argv.slice(2), interrupted.signal);
  } catch (error) {
    const shown: unknown = interrupted.signal.aborted ? interrupted.signal.reason : error;
    say(red(shown instanceof Error ? shown.message : String(shown)));
    process.exitCode = 1;
  }
}
