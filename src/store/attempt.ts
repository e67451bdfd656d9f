// One attempt in a store: its signal ends it, and its errors become sentences of the store.
import { StoreError, type StoreErrorCode } from "./errors.ts";
import { type Finding, storeError, type Tried, type Verb, type Wording } from "./sentences.ts";

export interface Refusals {
  readonly wording: Wording;
  /** What an error means. Undefined: it does not come from the store. */
  finding(error: Error, to: Verb): Finding | undefined;
}

export class StoreAttempt {
  readonly #tried: Tried;
  readonly #refusals: Refusals;
  readonly #signal: AbortSignal | undefined;

  constructor(tried: Tried, refusals: Refusals, signal?: AbortSignal) {
    this.#tried = tried;
    this.#refusals = refusals;
    this.#signal = signal;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      this.#signal?.throwIfAborted();
      return await work();
    } catch (error) {
      // What fails after an abort fails because of it.
      this.#signal?.throwIfAborted();
      throw this.explained(error);
    }
  }

  /** The error as the callers of stores know it. One that does not come from the store stays as it is. */
  explained(error: unknown): unknown {
    if (error instanceof StoreError || !(error instanceof Error)) return error;
    const finding = this.#refusals.finding(error, this.#tried.to);
    return finding ? storeError(this.#tried, this.#refusals.wording, finding) : error;
  }

  /** What the store found out without an error. */
  failure(code: StoreErrorCode, said = ""): StoreError {
    return storeError(this.#tried, this.#refusals.wording, { code, said });
  }
}
