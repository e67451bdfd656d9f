// gRPC framing: one byte that says whether the message is compressed, four bytes of length, then the message. Messages
// arrive in chunks of any size.
import { TransportError } from "../transport/errors.ts";
import { tooLarge, tooManyBytes } from "./bounds.ts";

export const prefixBytes = 5;

export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(prefixBytes + message.length);
  framed.writeUInt8(0, 0);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, prefixBytes);
  return framed;
}

/**
 * Takes an answer of exactly one message. It throws at the first byte that is too much, so that the stream is reset there,
 * and copies what it takes: a chunk of one byte may keep a whole buffer of the socket in memory.
 */
export class SingleMessage {
  readonly #method: string;
  readonly #limit: number;
  readonly #head = Buffer.alloc(prefixBytes);
  #headFilled = 0;
  #message: Buffer | undefined;
  #messageFilled = 0;

  constructor(method: string, limit: number) {
    this.#method = method;
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.whole !== undefined) throw tooLarge(`${this.#method} was answered with more than one message`);
      rest = rest.subarray(this.#message === undefined ? this.#takeHead(rest) : this.#takeBody(this.#message, rest));
    }
  }

  /** Undefined while it is incomplete. */
  get whole(): Buffer | undefined {
    return this.#messageFilled === this.#message?.length ? this.#message : undefined;
  }

  /** False in the middle of the message. */
  get empty(): boolean {
    return this.#headFilled === 0 || this.whole !== undefined;
  }

  #takeHead(chunk: Buffer): number {
    const taken = chunk.copy(this.#head, this.#headFilled);
    this.#headFilled += taken;
    if (this.#headFilled < prefixBytes) return taken;
    const length = readLength(this.#head);
    if (length > this.#limit) throw tooManyBytes(this.#method, this.#limit);
    this.#message = Buffer.allocUnsafe(length);
    return taken;
  }

  #takeBody(message: Buffer, chunk: Buffer): number {
    const taken = chunk.copy(message, this.#messageFilled);
    this.#messageFilled += taken;
    return taken;
  }
}

/** The length of the message that follows. */
export function readLength(head: Buffer): number {
  if (head.readUInt8(0) !== 0)
    throw new TransportError("broken", "received a compressed message without asking for compression");
  return head.readUInt32BE(1);
}
