// Clients that write to a cluster until they are stopped, each in its own way: one without a pause, which finds out for how
// long nobody can write, and one as applications have it, which finds out how many writes fail.
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, memberOf, type Writable } from "./attempt.ts";

abstract class Writer implements AsyncDisposable {
  protected readonly members: readonly Writable[];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(members: readonly Writable[]) {
    this.members = members;
    // Not before the fields of the subclass are there.
    this.#ended = Promise.resolve().then(() => this.write(this.#stop.signal));
    this.#ended.catch(() => undefined); // reported when it is stopped
  }

  /** Until the signal is aborted. */
  protected abstract write(stopped: AbortSignal): Promise<void>;

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Writes without a pause; what fails, or takes long, is tried at once at the next member. */
export class EndlessWriter extends Writer {
  /** A member whose leader has just died keeps a write for seconds; a client that is in a hurry asks the next one. */
  static readonly tryForMs = 100;
  /** When each write was acknowledged: milliseconds of `performance.now()`, ascending. */
  readonly acknowledged: number[] = [];

  protected override async write(stopped: AbortSignal): Promise<void> {
    let turn = 0;
    while (!stopped.aborted) {
      const value = String(this.acknowledged.length);
      const complaint = await attempt(memberOf(this.members, turn), value, EndlessWriter.tryForMs);
      if (complaint === undefined) this.acknowledged.push(performance.now());
      else turn += 1;
    }
  }
}

/**
 * Writes through each member in turn, and what fails at one it tries once more at the next. What fails there, too, is an
 * error that somebody sees.
 */
export class RetryingWriter extends Writer {
  /** Longer than an election. A member whose leader goes keeps a write for up to 7 s, and most clients do not wait so long. */
  static readonly tryForMs = 2_000;
  /** Begun whether those before are answered or not: one that waits would miss what happens meanwhile. */
  static readonly everyMs = 20;
  acknowledged = 0;
  /** How many of those needed their second try. */
  retried = 0;
  /** A sentence for each that failed twice: what the second member said. */
  readonly failed: string[] = [];

  protected override async write(stopped: AbortSignal): Promise<void> {
    const writes: Promise<void>[] = [];
    for (let turn = 0; !stopped.aborted; turn += 1) {
      const write = this.#writeOnce(turn);
      write.catch(() => undefined); // reported below
      writes.push(write);
      await sleep(RetryingWriter.everyMs);
    }
    await Promise.all(writes);
  }

  async #writeOnce(turn: number): Promise<void> {
    const tried = (at: number): Promise<string | undefined> =>
      attempt(memberOf(this.members, at), String(turn), RetryingWriter.tryForMs);
    const first = await tried(turn);
    const second = first === undefined ? undefined : await tried(turn + 1);
    if (second !== undefined) {
      this.failed.push(second);
      return;
    }
    this.acknowledged += 1;
    if (first !== undefined) this.retried += 1;
  }
}
