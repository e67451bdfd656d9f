// Length and SHA-256 of a stream, taken while it passes by.
import { createHash } from "node:crypto";

export class Hashed {
  readonly #hash = createHash("sha256");
  #bytes = 0;

  async *of(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream) {
      this.#hash.update(chunk);
      this.#bytes += chunk.length;
      yield chunk;
    }
  }

  /** Once, after the last byte. */
  finish(): { readonly bytes: number; readonly sha256: string } {
    return { bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }
}
