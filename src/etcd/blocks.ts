// Joins the pieces of a long stream into blocks, in one buffer that is used again: a network gives a gigabyte in a hundred
// thousand pieces, and what is done for each of them costs more than copying it.

/** Small enough to stay in a processor's cache between copying, hashing and copying on. */
const blockBytes = 256 * 1024;

export class Blocks {
  readonly #block: Buffer;
  readonly #onBlock: (block: Uint8Array) => void | Promise<void>;
  #filled = 0;

  /** A block is valid until what `onBlock` returned has resolved. Nothing may be added before that. */
  constructor(onBlock: (block: Uint8Array) => void | Promise<void>, bytes: number = blockBytes) {
    this.#onBlock = onBlock;
    // Not from Node's pool, which would keep more alive.
    this.#block = Buffer.allocUnsafeSlow(bytes);
  }

  add(piece: Uint8Array): void | Promise<void> {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + this.#block.length - this.#filled);
      this.#block.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled < this.#block.length) return;
      const taken = this.flush();
      if (taken) {
        const rest = piece.subarray(at);
        return rest.length === 0 ? taken : taken.then(() => this.add(rest));
      }
    }
  }

  /** Passes on what has come since the last block, if anything has. */
  flush(): void | Promise<void> {
    if (this.#filled === 0) return;
    const block = this.#block.subarray(0, this.#filled);
    this.#filled = 0;
    return this.#onBlock(block);
  }
}
