// Verifies a snapshot while it streams: its announced length, and the SHA-256 that the server appends. A truncated or
// damaged snapshot must never pass as a backup.
import { TransportError } from "../transport/errors.ts";
import { digestLength, TrailingDigest } from "./trailing-digest.ts";

export class SnapshotCheck {
  readonly #digest = new TrailingDigest();
  #announced: number | undefined;

  /** Throws when more comes than was announced: nobody stores a stream that does not end. */
  add(chunk: Uint8Array): void {
    this.#digest.add(chunk);
    const announced = this.#announced ?? Number.POSITIVE_INFINITY;
    if (this.#digest.bytes > announced + digestLength)
      throw new TransportError("tooLarge", `the snapshot is longer than the ${announced} bytes that were announced`);
  }

  /** After each message: how many bytes have come with it, and how many the server says follow. */
  announce({ bytes, remaining }: { readonly bytes: number; readonly remaining: number }): void {
    // The first counts. The digest comes after the announced length, with 0 remaining.
    this.#announced ??= bytes + remaining;
  }

  /** Throws unless the snapshot is complete and matches its digest. */
  finish(): { bytes: number; sha256: string } {
    const { bytes, hasDigest } = this.#digest;
    const expected = (this.#announced ?? 0) + digestLength;
    if (bytes !== expected || !hasDigest)
      throw new TransportError("broken", `the snapshot is incomplete: ${bytes} of ${expected} bytes arrived`);
    const { computed, appended, whole } = this.#digest.finish();
    if (computed !== appended) throw new TransportError("broken", "the snapshot does not match its checksum");
    return { bytes, sha256: whole };
  }
}
