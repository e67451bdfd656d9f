// An abort signal that follows others and can be released, so that a signal that lives as long as the process does not
// collect a listener for each thing that ever happened under it, as it would with `AbortSignal.any`.

interface Following {
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  release(): void;
}

export function follow(...leaders: readonly (AbortSignal | undefined)[]): Following {
  const controller = new AbortController();
  const releases: (() => void)[] = [];
  for (const leader of leaders) {
    if (leader === undefined) continue;
    const onAbort = (): void => controller.abort(leader.reason);
    if (leader.aborted) onAbort();
    else leader.addEventListener("abort", onAbort, { once: true });
    releases.push(() => leader.removeEventListener("abort", onAbort));
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => releases.forEach((release) => release()),
  };
}

export function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
