// Checks a snapshot as it passes: that it is as long as announced and that it matches the SHA-256 which the server
// puts behind it. A snapshot that was cut off or damaged must never look like a backup.
import { createHash } from "node:crypto";
import { TransportError } from "../transport/errors.ts";

const digestLength = 32;
/** The database is made of pages, so that digest or no digest can be told from the length. */
const pageUnit = 512;

export class SnapshotCheck {
  readonly #hash = createHash("sha256");
  /** The last bytes seen, which may turn out to be the digest. */
  #tail: Uint8Array = new Uint8Array(0);
  #bytes = 0;
  #announced: bigint | undefined;

  /** `remaining`: what the server says is still to come after this piece. */
  add(piece: Uint8Array, remaining: bigint): void {
    this.#bytes += piece.length;
    const total = BigInt(this.#bytes) + remaining;
    // The digest comes after the announced length, with 0 remaining.
    this.#announced ??= total;
    if (piece.length >= digestLength) {
      this.#hash.update(this.#tail);
      this.#hash.update(piece.subarray(0, piece.length - digestLength));
      this.#tail = Uint8Array.from(piece.subarray(piece.length - digestLength));
    } else {
      const joined = Buffer.concat([this.#tail, piece]);
      const settled = Math.max(0, joined.length - digestLength);
      this.#hash.update(joined.subarray(0, settled));
      this.#tail = joined.subarray(settled);
    }
  }

  /** Throws unless all of it came as the server sent it. */
  finish(): { bytes: number; sha256: string } {
    const expected = Number(this.#announced ?? 0n) + digestLength;
    if (this.#bytes !== expected || this.#bytes % pageUnit !== digestLength)
      throw new TransportError("broken", `the snapshot is incomplete: ${this.#bytes} of ${expected} bytes came`);
    const sha256 = this.#hash.digest("hex");
    if (sha256 !== Buffer.from(this.#tail).toString("hex"))
      throw new TransportError("broken", "the snapshot does not match its checksum");
    return { bytes: this.#bytes, sha256 };
  }
}
