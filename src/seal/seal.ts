// Encrypts a stream. Holds one chunk in memory; what it yields is the receiver's.
import { createCipheriv, randomBytes } from "node:crypto";
import { chunkBytes, endMark, makeHeader, nonce, objectKey, saltBytes } from "./format.ts";
import type { SealKey } from "./key.ts";
import type { SealedOf } from "./sealed-of.ts";

/** Small enough that what is yielded is soon free again. */
const pieceBytes = 64 << 10;

/** `of` is bound to every byte: a reader compares it with what it asked for. `salt` is given by tests only: no two objects may have the same. */
export async function* seal(
  plain: AsyncIterable<Uint8Array>,
  key: SealKey,
  of: SealedOf,
  salt: Buffer = randomBytes(saltBytes),
): AsyncGenerator<Uint8Array> {
  const header = makeHeader(key, of, salt);
  const secret = objectKey(key, header);
  const chunk = Buffer.allocUnsafeSlow(chunkBytes);
  let filled = 0;
  let number = 0;

  function* sealed(place: "last" | "before"): Generator<Uint8Array> {
    const cipher = createCipheriv("aes-256-gcm", secret, nonce(number, place)).setAAD(header.bytes);
    for (let at = 0; at < filled; at += pieceBytes)
      yield cipher.update(chunk.subarray(at, Math.min(filled, at + pieceBytes)));
    cipher.final();
    yield cipher.getAuthTag();
    number += 1;
    filled = 0;
  }

  yield header.bytes;
  for await (const piece of plain) {
    let at = 0;
    while (at < piece.length) {
      // A full chunk waits for the next byte: it may be the last.
      if (filled === chunkBytes) yield* sealed("before");
      const taken = Math.min(chunkBytes - filled, piece.length - at);
      chunk.set(piece.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
    }
  }
  yield* sealed("last");
  yield Buffer.from(endMark);
}
