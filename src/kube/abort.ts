// An abort signal that follows another one and can be let go of, so that a signal that lives as long as the process
// does not collect a listener for each thing that ever happened under it.

export interface Following {
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  /** Stops following. */
  release(): void;
}

export function follow(parent: AbortSignal): Following {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => parent.removeEventListener("abort", onAbort),
  };
}

export function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
