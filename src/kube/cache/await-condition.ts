// Waiting for something to become true: `check` is called after each change, and resolves the waits that hold now.

interface Waiting {
  readonly holds: () => boolean;
  readonly resolve: () => void;
}

export class AwaitedConditions {
  readonly #waiting = new Set<Waiting>();

  /** Rejects with the signal's reason if the signal aborts first. */
  when(holds: () => boolean, signal: AbortSignal): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(waiting);
        reject(asError(signal.reason));
      };
      const waiting: Waiting = {
        holds,
        resolve: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(waiting);
    });
  }

  check(): void {
    for (const waiting of this.#waiting) {
      if (!waiting.holds()) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("Aborted", { cause: reason });
}
