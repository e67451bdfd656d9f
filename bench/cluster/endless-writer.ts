// A client that writes without a pause and notes when each write was acknowledged. What fails, or takes long, is tried at
// once at the next member.
import { attempt, memberOf, type Writable } from "./attempt.ts";

/** A member whose leader has just died keeps a write for seconds; a client that is in a hurry asks the next one. */
const tryForMs = 100;

export class EndlessWriter implements AsyncDisposable {
  /** Milliseconds of `performance.now()`, ascending. */
  readonly acknowledged: number[] = [];
  readonly #members: readonly Writable[];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(members: readonly Writable[]) {
    this.#members = members;
    this.#ended = this.#run();
    this.#ended.catch(() => undefined); // told when it is stopped
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(): Promise<void> {
    let turn = 0;
    while (!this.#stop.signal.aborted) {
      const complaint = await attempt(memberOf(this.#members, turn), String(this.acknowledged.length), tryForMs);
      if (complaint === undefined) this.acknowledged.push(performance.now());
      else turn += 1;
    }
  }
}
