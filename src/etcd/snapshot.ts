// Verifies a snapshot while it streams: its announced length, and the SHA-256 that the server appends. A truncated or
// damaged snapshot must never pass as a backup.
import { TransportError } from "../transport/errors.ts";
import { digestLength, TrailingDigest } from "./trailing-digest.ts";

export class SnapshotCheck {
  readonly #digest = new TrailingDigest();
  #announced: bigint | undefined;

  /** `remaining`: how many bytes the server says follow this chunk. */
  add(chunk: Uint8Array, remaining: bigint): void {
    this.#digest.add(chunk);
    // The digest comes after the announced length, with 0 remaining.
    this.#announced ??= BigInt(this.#digest.bytes) + remaining;
  }

  /** Throws unless the snapshot is complete and matches its digest. */
  finish(): { bytes: number; sha256: string } {
    const { bytes, hasDigest } = this.#digest;
    const expected = Number(this.#announced ?? 0n) + digestLength;
    if (bytes !== expected || !hasDigest)
      throw new TransportError("broken", `the snapshot is incomplete: ${bytes} of ${expected} bytes arrived`);
    const { computed, appended, whole } = this.#digest.finish();
    if (computed !== appended) throw new TransportError("broken", "the snapshot does not match its checksum");
    return { bytes, sha256: whole };
  }
}
