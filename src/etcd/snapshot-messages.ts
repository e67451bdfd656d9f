// Reads the messages of a snapshot while their bytes come, and passes the database on as it lies in them. A decoder of
// whole messages copies each of them first, and a snapshot is gigabytes in messages of 32 KiB.
//
// message SnapshotResponse { ResponseHeader header = 1; uint64 remaining_bytes = 2; bytes blob = 3; string version = 4; }
import { TransportError } from "../transport/errors.ts";
import { prefixBytes, readLength } from "./frames.ts";

const field = { remaining: 2, blob: 3, version: 4 } as const;
/** How a field is written, by the lowest three bits before it. */
const wire = { varint: 0, fixed64: 1, length: 2, fixed32: 5 } as const;
/** A version is some ten characters. */
const longestVersion = 64;

export interface SnapshotSays {
  /** How many bytes of the database have arrived, with this message. */
  readonly bytes: number;
  /** How many of the database are still to come. */
  readonly remaining: number;
  readonly version: string;
}

interface SnapshotReceiver {
  /** Valid until what was returned has resolved; nothing more is read before that. */
  onPiece(piece: Uint8Array): void | Promise<void>;
  onMessage(says: SnapshotSays): void;
}

type State =
  | { readonly t: "prefix"; readonly head: Buffer; filled: number }
  | { readonly t: "tag"; readonly varint: Varint }
  | { readonly t: "value"; readonly number: number; readonly varint: Varint }
  | { readonly t: "length"; readonly number: number; readonly varint: Varint }
  | { readonly t: "bytes"; readonly number: number; left: number };

export class SnapshotMessages {
  readonly #to: SnapshotReceiver;
  #state: State = prefix();
  /** The bytes left of the message that is being read. */
  #left = 0;
  #bytes = 0;
  #remaining = 0;
  #version = "";

  constructor(to: SnapshotReceiver) {
    this.#to = to;
  }

  /** False in the middle of a message. */
  get empty(): boolean {
    return this.#state.t === "prefix" && this.#state.filled === 0;
  }

  push(chunk: Uint8Array): void | Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const state = this.#state;
      if (state.t === "bytes") {
        const piece = chunk.subarray(at, at + state.left);
        at += piece.length;
        state.left -= piece.length;
        this.#took(piece.length);
        const taken = this.#take(state.number, piece);
        if (state.left === 0) this.#fieldEnds();
        if (taken) {
          const rest = chunk.subarray(at);
          return rest.length === 0 ? taken : taken.then(() => this.push(rest));
        }
      } else {
        this.#byte(state, chunk[at] ?? 0);
        at += 1;
      }
    }
  }

  /** What is not the value of a field is a few bytes a message. */
  #byte(state: Exclude<State, { t: "bytes" }>, byte: number): void {
    if (state.t === "prefix") {
      state.head[state.filled] = byte;
      state.filled += 1;
      if (state.filled === prefixBytes) this.#begin(lengthOf(state.head));
      return;
    }
    this.#took(1);
    if (!state.varint.add(byte)) return;
    const { value } = state.varint;
    if (state.t === "tag") this.#state = this.#afterTag(Math.floor(value / 8), value % 8);
    else if (state.t === "length") {
      if (value > this.#left) throw malformed();
      this.#state = { t: "bytes", number: state.number, left: value };
      if (value === 0) this.#fieldEnds();
    } else {
      if (state.number === field.remaining) this.#remaining = value;
      this.#fieldEnds();
    }
  }

  #begin(length: number): void {
    this.#left = length;
    this.#remaining = 0;
    this.#version = "";
    this.#fieldEnds();
  }

  #afterTag(number: number, how: number): State {
    if (how === wire.varint) return { t: "value", number, varint: new Varint() };
    if (how === wire.length) return { t: "length", number, varint: new Varint() };
    const left = how === wire.fixed64 ? 8 : how === wire.fixed32 ? 4 : undefined;
    if (left === undefined || left > this.#left) throw malformed();
    // The fields that are wanted are never written like this.
    return { t: "bytes", number: -1, left };
  }

  #take(number: number, piece: Uint8Array): void | Promise<void> {
    if (number === field.blob) {
      this.#bytes += piece.length;
      return this.#to.onPiece(piece);
    }
    if (number === field.version && this.#version.length < longestVersion)
      this.#version += Buffer.from(piece).toString("latin1");
  }

  #took(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw malformed();
  }

  #fieldEnds(): void {
    this.#state = this.#left > 0 ? { t: "tag", varint: new Varint() } : prefix();
    if (this.#left > 0) return;
    this.#to.onMessage({ bytes: this.#bytes, remaining: this.#remaining, version: this.#version });
  }
}

/** Seven bits a byte, the lowest first. */
class Varint {
  value = 0;
  #place = 1;

  add(byte: number): boolean {
    // Ten bytes are 64 bits.
    if (this.#place > 2 ** 63) throw malformed();
    this.value += (byte % 128) * this.#place;
    this.#place *= 128;
    return byte < 128;
  }
}

/** etcd sends 32 KiB at once. The pieces are passed on as they come, so this only tells a peer that is not etcd. */
const longest = 64 << 20;

function lengthOf(head: Buffer): number {
  const length = readLength(head);
  if (length > longest) throw malformed();
  return length;
}

const prefix = (): State => ({ t: "prefix", head: Buffer.alloc(prefixBytes), filled: 0 });

const malformed = (): TransportError =>
  new TransportError("broken", "received a message that is not part of a snapshot");
