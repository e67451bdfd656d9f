// A client as applications have one: it writes through each member in turn, and what fails at one it tries once more at
// the next. What fails there, too, is an error that somebody sees.
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, memberOf, type Writable } from "./attempt.ts";

/** Longer than an election. A member whose leader goes keeps a write for up to 7 s, and most clients do not wait so long. */
const tryForMs = 2_000;
/** Begun whether those before are answered or not: one that waits would miss what happens meanwhile. */
const everyMs = 20;

export class RetryingWriter implements AsyncDisposable {
  acknowledged = 0;
  /** How many of those needed their second try. */
  retried = 0;
  /** A sentence for each that failed twice: what the second member said. */
  readonly failed: string[] = [];
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
    const writes: Promise<void>[] = [];
    for (let turn = 0; !this.#stop.signal.aborted; turn += 1) {
      const write = this.#write(turn);
      write.catch(() => undefined); // told below
      writes.push(write);
      await sleep(everyMs);
    }
    await Promise.all(writes);
  }

  async #write(turn: number): Promise<void> {
    const value = String(turn);
    const first = await attempt(memberOf(this.#members, turn), value, tryForMs);
    const second = first === undefined ? undefined : await attempt(memberOf(this.#members, turn + 1), value, tryForMs);
    if (second !== undefined) {
      this.failed.push(second);
      return;
    }
    this.acknowledged += 1;
    if (first !== undefined) this.retried += 1;
  }
}
