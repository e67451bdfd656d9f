// Verifies a snapshot while it streams: its announced length, and the SHA-256 that the server appends. A truncated or
// damaged snapshot must never pass as a backup.
import { createHash } from "node:crypto";
import { TransportError } from "../transport/errors.ts";

const digestLength = 32;
/** The database consists of pages, so the length shows whether there is a digest behind it. */
const pageUnit = 512;

export class SnapshotCheck {
  readonly #hash = createHash("sha256");
  /** The last bytes received, which may be the digest. */
  #tail: Uint8Array = new Uint8Array(0);
  #bytes = 0;
  #announced: bigint | undefined;

  /** `remaining`: how many bytes the server says follow this chunk. */
  add(chunk: Uint8Array, remaining: bigint): void {
    this.#bytes += chunk.length;
    const total = BigInt(this.#bytes) + remaining;
    // The digest comes after the announced length, with 0 remaining.
    this.#announced ??= total;
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

  /** Throws unless the snapshot is complete and matches its digest. */
  finish(): { bytes: number; sha256: string } {
    const expected = Number(this.#announced ?? 0n) + digestLength;
    if (this.#bytes !== expected || this.#bytes % pageUnit !== digestLength)
      throw new TransportError("broken", `the snapshot is incomplete: ${this.#bytes} of ${expected} bytes arrived`);
    const sha256 = this.#hash.digest("hex");
    if (sha256 !== Buffer.from(this.#tail).toString("hex"))
      throw new TransportError("broken", "the snapshot does not match its checksum");
    return { bytes: this.#bytes, sha256 };
  }
}
