// Decrypts a stream. Each chunk is authentic when it is yielded; that none is missing is known only when the stream has
// ended without an error, so what was written before has to be thrown away if there is one.
import { createDecipheriv } from "node:crypto";
import { SealError } from "./errors.ts";
import {
  endMark,
  firstBytes,
  type Header,
  headerBytes,
  isKeyOf,
  isSealed,
  nonce,
  objectKey,
  readHeader,
  tagBytes,
} from "./format.ts";
import type { FindKey, SealKey } from "./key.ts";
import type { SealedOf } from "./sealed-of.ts";

interface Unsealed {
  readonly keyId: string;
  readonly plain: AsyncIterable<Uint8Array>;
}

/** Throws to refuse the object. Undefined: it is of format 1, and does not say what it is a copy of. */
export type Accept = (of: SealedOf | undefined) => void;

/** Reads as far as it takes to know that what `accept` is given is authentic; the rest is read with `plain`. */
export async function unseal(sealed: AsyncIterable<Uint8Array>, find: FindKey, accept: Accept): Promise<Unsealed> {
  const bytes = new Bytes(sealed);
  try {
    return await begun(bytes, find, accept);
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

async function begun(bytes: Bytes, find: FindKey, accept: Accept): Promise<Unsealed> {
  const first = await bytes.take(firstBytes);
  if (first === undefined || !isSealed(first)) {
    if (isSealed(bytes.rest())) throw cutOff();
    throw new SealError("notSealed", "The object is not encrypted.");
  }
  const rest = await bytes.take(headerBytes(first) - firstBytes);
  if (rest === undefined) throw cutOff();
  const header = readHeader(Buffer.concat([first, rest]));
  const key = await find(header.keyId);
  if (key === undefined)
    throw new SealError(
      "keyMissing",
      `The object is encrypted with the key ${header.keyId}, which the Secret does not have. Add it to the Secret.`,
    );
  if (!isKeyOf(key, header))
    throw new SealError(
      "wrongKey",
      `The object is encrypted with another key than the one that the Secret has as ${header.keyId}. Put the former one there.`,
    );
  const chunks = authentic(bytes, header, key);
  // The header is part of what each chunk authenticates.
  const start = await chunks.next();
  accept(header.of);
  return { keyId: header.keyId, plain: resumed(start, chunks, bytes) };
}

async function* resumed(
  start: IteratorResult<Uint8Array>,
  chunks: AsyncGenerator<Uint8Array>,
  bytes: Bytes,
): AsyncGenerator<Uint8Array> {
  try {
    if (start.done !== true) yield start.value;
    yield* chunks;
  } finally {
    await bytes.close();
  }
}

async function* authentic(bytes: Bytes, header: Header, key: SealKey): AsyncGenerator<Uint8Array> {
  const secret = objectKey(key, header);
  const size = header.chunkBytes + tagBytes;
  let number = 0;
  const opened = (sealed: Buffer, place: "last" | "before"): Buffer | undefined => {
    const decipher = createDecipheriv("aes-256-gcm", secret, nonce(number, place), { authTagLength: tagBytes });
    decipher.setAAD(header.bytes).setAuthTag(sealed.subarray(-tagBytes));
    const plain = decipher.update(sealed.subarray(0, -tagBytes));
    try {
      decipher.final();
      return plain;
    } catch {
      return undefined;
    }
  };
  // One byte more than the end mark tells that this is not the last chunk.
  while (await bytes.has(size + endMark.length + 1)) {
    const plain = opened((await bytes.take(size)) ?? Buffer.alloc(0), "before");
    if (plain === undefined) throw changed(number);
    yield plain;
    number += 1;
  }
  const last = bytes.rest();
  if (!endMark.equals(last.subarray(-endMark.length))) throw cutOff();
  const sealed = last.subarray(0, -endMark.length);
  if (sealed.length < tagBytes || (sealed.length === tagBytes && number > 0)) throw changed(number);
  const plain = opened(sealed, "last");
  if (plain === undefined) throw changed(number);
  if (plain.length > 0) yield plain;
}

const cutOff = (): SealError =>
  new SealError("truncated", "The encrypted object is incomplete: its end is missing. Use another backup.");
const changed = (chunk: number): SealError =>
  new SealError(
    "tampered",
    `The encrypted object was changed after it was written (in chunk ${chunk}): it cannot be trusted. Use another backup.`,
  );

/** Takes a stream apart in other sizes than it comes in. */
class Bytes {
  readonly #source: AsyncIterator<Uint8Array>;
  #pieces: Uint8Array[] = [];
  #held = 0;
  #ended = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async has(count: number): Promise<boolean> {
    while (this.#held < count && !this.#ended) {
      const next = await this.#source.next();
      if (next.done === true) this.#ended = true;
      else {
        this.#pieces.push(next.value);
        this.#held += next.value.length;
      }
    }
    return this.#held >= count;
  }

  /** Undefined: there are fewer. */
  async take(count: number): Promise<Buffer | undefined> {
    if (!(await this.has(count))) return undefined;
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all.subarray(count)];
    this.#held -= count;
    return all.subarray(0, count);
  }

  /** Lets the source go, whether it was read to its end or not. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  /** What was read and not taken. */
  rest(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
