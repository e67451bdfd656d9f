// Signals and uncaught errors of a process: both end it, in order or after a time limit.
import type { Logger } from "./log.ts";

interface ProcessOptions {
  log: Logger;
  /** How long the end may take after the first signal, in milliseconds, before the process exits without it. */
  endWithin: number;
}

/** Exit codes: 0 when `main` ended, 1 for a failure or an end that took too long. A second signal exits at once. */
export function runProcess(main: (signal: AbortSignal) => Promise<void>, { log, endWithin }: ProcessOptions): void {
  const end = new AbortController();
  const exit = (code: number, why: string, fields: object): never => {
    if (code === 0) log.info(why, { ...fields });
    else log.error(why, { ...fields });
    process.exit(code);
  };
  const onSignal = (name: NodeJS.Signals): void => {
    if (end.signal.aborted) exit(1, "second signal: exits now", { signal: name });
    log.info("shutting down", { signal: name });
    end.abort(new Error(`The process was asked to end by ${name}`));
    setTimeout(() => exit(1, "shutdown took too long", { endWithin }), endWithin);
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  // Rejections that nobody handles come here as well.
  process.on("uncaughtException", (error) => exit(1, "uncaught error", { error }));
  main(end.signal).then(
    () => exit(0, "ended", {}),
    (error: unknown) => exit(1, "failed", { error }),
  );
}
