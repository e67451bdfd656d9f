// The SHA-256 that etcd appends to a snapshot, checked while the snapshot passes by.
import { createHash } from "node:crypto";

export const digestLength = 32;
/** The database consists of pages, so the length shows whether there is a digest behind it. */
const pageUnit = 512;

export class TrailingDigest {
  readonly #hash = createHash("sha256");
  /** The last bytes received, which may be the digest. */
  #tail: Uint8Array = new Uint8Array(0);
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (chunk.length >= digestLength) {
      this.#hash.update(this.#tail);
      this.#hash.update(chunk.subarray(0, chunk.length - digestLength));
      this.#tail = Uint8Array.from(chunk.subarray(chunk.length - digestLength));
    } else {
      const joined = Buffer.concat([this.#tail, chunk]);
      const settled = Math.max(0, joined.length - digestLength);
      this.#hash.update(joined.subarray(0, settled));
      this.#tail = joined.subarray(settled);
    }
  }

  /** By its length alone: pages, and a digest behind them. */
  get hasDigest(): boolean {
    return this.#bytes % pageUnit === digestLength;
  }

  /** Once, after the last byte. `whole`: the SHA-256 of all bytes, with the digest. */
  finish(): { readonly computed: string; readonly appended: string; readonly whole: string } {
    const computed = this.#hash.copy().digest("hex");
    // All bytes were hashed but the last ones: a second hash of the whole would cost as much again.
    const whole = this.#hash.update(this.#tail).digest("hex");
    return { computed, appended: Buffer.from(this.#tail).toString("hex"), whole };
  }
}
