// How long a caller waits for its request: until its deadline, or until it aborts. One timer and one abort
// listener serve the request through all its stages; each stage says what giving up means for it.
import { TransportError } from "./errors.ts";

export interface PatienceOptions {
  /** Milliseconds from now. Absent: no limit. */
  deadline?: number;
  signal?: AbortSignal;
}

// A longer setTimeout would fire at once.
const longestTimer = 2 ** 31 - 1;

export class Patience {
  #lost: { reason: unknown } | undefined;
  #giveUp: ((reason: unknown) => void) | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(what: string, { deadline, signal }: PatienceOptions) {
    this.#signal = signal;
    if (signal?.aborted) {
      this.#lost = { reason: signal.reason };
      return;
    }
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (deadline !== undefined) {
      this.#timer = setTimeout(
        () => this.#lose(new TransportError("deadline", `${what} had no answer within ${Math.round(deadline)} ms`)),
        Math.min(Math.max(0, deadline), longestTimer),
      );
    }
  }

  /** Throws if the caller does not wait any more. */
  check(): void {
    if (this.#lost) throw this.#lost.reason;
  }

  /** From now on, giving up means this. */
  onGiveUp(giveUp: (reason: unknown) => void): void {
    this.#giveUp = giveUp;
  }

  /** The request is over: releases the timer and the signal. */
  end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#giveUp = undefined;
  }

  #onAbort = (): void => this.#lose(this.#signal?.reason);

  #lose(reason: unknown): void {
    const giveUp = this.#giveUp;
    this.#lost = { reason };
    this.end();
    giveUp?.(reason);
  }
}
