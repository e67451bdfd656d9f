// gRPC framing: one byte that says whether the message is compressed, four bytes of length, then the message. Messages
// arrive in chunks of any size.
import { TransportError } from "../transport/errors.ts";

export const prefixBytes = 5;
/** Far above any answer that the operator asks for; keeps a peer that is not etcd from filling the memory. */
const longest = 64 << 20;

export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(prefixBytes + message.length);
  framed.writeUInt8(0, 0);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, prefixBytes);
  return framed;
}

export class FrameReader {
  #chunks: Buffer[] = [];
  #buffered = 0;
  /** Length of the message being received, once its prefix has arrived. */
  #expected: number | undefined;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
  }

  /** The next message; undefined while it is incomplete. */
  next(): Buffer | undefined {
    if (this.#expected === undefined) {
      if (this.#buffered < prefixBytes) return undefined;
      this.#expected = readLength(this.#take(prefixBytes));
    }
    if (this.#buffered < this.#expected) return undefined;
    const message = this.#take(this.#expected);
    this.#expected = undefined;
    return message;
  }

  /** False in the middle of a message. */
  get empty(): boolean {
    return this.#buffered === 0 && this.#expected === undefined;
  }

  #take(length: number): Buffer {
    const [first] = this.#chunks;
    const whole =
      first && first.length >= length
        ? first
        : Buffer.concat(this.#chunks.splice(0, this.#chunks.length, Buffer.alloc(0)));
    const rest = whole.subarray(length);
    if (rest.length > 0) this.#chunks[0] = rest;
    else this.#chunks.shift();
    this.#buffered -= length;
    return whole.subarray(0, length);
  }
}

/** Of the message that follows. */
export function readLength(head: Buffer): number {
  if (head.readUInt8(0) !== 0)
    throw new TransportError("broken", "received a compressed message without asking for compression");
  const length = head.readUInt32BE(1);
  if (length > longest)
    throw new TransportError("broken", `received the header of a message of ${length} bytes; the limit is ${longest}`);
  return length;
}
