// A client that writes all the time and knows afterwards what must be there.
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { waitFor } from "../../lab/progress.ts";
import { EtcdError } from "../../src/etcd/errors.ts";
import { has } from "../../src/etcd/versions/features.ts";
import { TransportError } from "../../src/transport/errors.ts";
import type { RealEtcd } from "./real-etcd.ts";

/** Writes to one member after another until it is disposed of. */
export class Writer implements AsyncDisposable {
  readonly #etcd: RealEtcd;
  readonly #names: readonly string[];
  readonly #deadline: number;
  readonly #acknowledged: string[] = [];
  readonly #writing: Promise<void>;
  #stopped = false;
  #failures = 0;

  /** `deadline`: of each write. Longer where none may fail, as one does that waits for a busy machine. */
  constructor(etcd: RealEtcd, names: readonly string[], { deadline = 2000 }: { readonly deadline?: number } = {}) {
    this.#etcd = etcd;
    this.#names = names;
    this.#deadline = deadline;
    this.#writing = this.#write();
  }

  async #write(): Promise<void> {
    for (let n = 0; !this.#stopped; n += 1) {
      const key = `written/${n}`;
      const name = this.#names[n % this.#names.length] ?? "m0";
      try {
        await this.#etcd.member(name).put(key, key, { deadline: this.#deadline });
        this.#acknowledged.push(key);
      } catch (error) {
        if (!(error instanceof EtcdError || error instanceof TransportError)) throw error;
        this.#failures += 1;
      }
      await delay(10);
    }
  }

  get acknowledged(): number {
    return this.#acknowledged.length;
  }

  /** How many writes were not acknowledged. */
  get failures(): number {
    return this.#failures;
  }

  /** Ends it, after enough writes to be meaningful. Every member has each of them, and all have the same data. */
  async expectAll(): Promise<void> {
    await waitFor("100 acknowledged writes", async () => this.#acknowledged.length > 100 || undefined, {
      timeoutMs: 180_000,
      lastSeen: () => `${this.#acknowledged.length} acknowledged, ${this.#failures} not`,
    });
    await this[Symbol.asyncDispose]();
    const members = this.#names.map((name) => this.#etcd.member(name));
    const revision = (await members[0]?.list("written/", { limit: 1 }))?.revision ?? 0;
    for (const member of members) {
      const written = new Set((await member.list("written/")).keys.map(({ key }) => key));
      const lost = this.#acknowledged.filter((key) => !written.has(key));
      assert.deepEqual(lost, [], `${lost.length} of ${this.#acknowledged.length} acknowledged writes are lost`);
    }
    if (!has(this.#etcd.version, "hashKv")) return;
    const hashes = await Promise.all(members.map((member) => member.hashKv(revision)));
    assert.equal(new Set(hashes.map(({ hash }) => hash)).size, 1, JSON.stringify(hashes));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await this.#writing;
  }
}
