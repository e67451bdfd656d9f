// An abort signal that follows several others and lets go of them when told. `AbortSignal.any` would leave a trace with
// every request on a signal that lives as long as the process.

export interface LinkedSignal {
  readonly signal: AbortSignal;
  unlink(): void;
}

export function linkSignals(sources: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const unlinks: (() => void)[] = [];
  for (const source of sources) {
    if (source === undefined) continue;
    if (source.aborted) controller.abort(source.reason);
    const follow = (): void => controller.abort(source.reason);
    source.addEventListener("abort", follow, { once: true });
    unlinks.push(() => source.removeEventListener("abort", follow));
  }
  return { signal: controller.signal, unlink: () => unlinks.forEach((unlink) => unlink()) };
}
