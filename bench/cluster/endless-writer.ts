// A client that writes without a pause and notes when each write was acknowledged. What fails, or takes long, is tried at
// once at the next member.
import type { EtcdMember } from "../../src/etcd/member.ts";
import { EtcdError } from "../../src/etcd/errors.ts";
import { TransportError } from "../../src/transport/errors.ts";

type Writable = Pick<EtcdMember, "put">;

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
      const member = this.#members[turn % this.#members.length];
      if (member === undefined) throw new RangeError("there is no member to write through");
      if (await this.#written(member)) this.acknowledged.push(performance.now());
      else turn += 1;
    }
  }

  async #written(member: Writable): Promise<boolean> {
    try {
      await member.put("bench", String(this.acknowledged.length), { deadline: tryForMs });
      return true;
    } catch (error) {
      if (error instanceof EtcdError || error instanceof TransportError) return false;
      throw error;
    }
  }
}
