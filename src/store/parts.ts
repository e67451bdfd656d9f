// Packs a body of small chunks into large parts, in two buffers that are used in turn: one is filled while the other is
// sent. Memory stays the same however long the body is, and no chunk is kept.
import { StoreError } from "./errors.ts";
import { untilAborted } from "./until-aborted.ts";

const smallest = 8 * 1024 * 1024;

/** What S3 allows; Azure and Google allow more. */
const mostParts = 10_000;

/** The parts that a body of the expected size makes at most. The others are for a body that grew. */
const plannedParts = 9_000;

/** GCS takes only multiples of this. */
const grain = 256 * 1024;

export interface Part {
  /** From 1. */
  readonly number: number;
  /** Where in the body it begins. */
  readonly offset: number;
  /** Valid until the sender of this part resolves. */
  readonly bytes: Buffer;
  readonly last: boolean;
}

/**
 * Equal sizes for what is expected, because some stores want that; then doubled after every 250 parts.
 * 8 MiB parts: 9,000 are 70 GiB; 250 each of 16, 32, 64 and 128 MiB are 58 GiB more.
 */
export function partBytes(number: number, expectedBytes = 0): number {
  const planned = Math.max(smallest, Math.ceil(expectedBytes / plannedParts / grain) * grain);
  return planned * 2 ** Math.max(0, Math.ceil((number - plannedParts) / 250));
}

interface PartsOptions {
  readonly expectedBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Sends every part, one at a time and in order; an empty body is one empty part. Returns how many bytes there were. */
export async function sendParts(
  body: AsyncIterable<Uint8Array>,
  send: (part: Part) => Promise<void>,
  { expectedBytes = 0, signal }: PartsOptions = {},
): Promise<number> {
  const buffers: [Buffer, Buffer] = [Buffer.alloc(0), Buffer.alloc(0)];
  let number = 1;
  let sent = 0;
  let filled = 0;
  let failure: { error: unknown } | undefined;
  let sending: Promise<void> = Promise.resolve();

  const bufferFor = (part: number): Buffer => {
    const at = part % 2;
    const wanted = partBytes(part, expectedBytes);
    // Not from Node's pool, which would keep more alive; its pages cost nothing until they are written.
    const buffer = buffers[at]?.length === wanted ? buffers[at] : Buffer.allocUnsafeSlow(wanted);
    buffers[at] = buffer;
    return buffer;
  };
  const throwFailure = (): void => {
    if (failure) throw failure.error;
    signal?.throwIfAborted();
  };
  const begin = async (last: boolean): Promise<void> => {
    await sending;
    throwFailure();
    const part: Part = { number, offset: sent, bytes: buffer.subarray(0, filled), last };
    sending = send(part).catch((error: unknown) => {
      failure ??= { error };
    });
    sent += filled;
    filled = 0;
    number += 1;
  };

  let buffer = bufferFor(number);
  try {
    for await (const chunk of untilAborted(body, signal)) {
      throwFailure();
      for (let at = 0; at < chunk.length; ) {
        // A full part is sent when more comes, so that the last one is known as such.
        if (filled === buffer.length) {
          if (number === mostParts) throw tooLong(sent + filled);
          await begin(false);
          buffer = bufferFor(number);
        }
        const piece = chunk.subarray(at, at + buffer.length - filled);
        buffer.set(piece, filled);
        filled += piece.length;
        at += piece.length;
      }
    }
    await begin(true);
  } finally {
    // Its buffer must not be given up while a request still reads it.
    await sending;
  }
  throwFailure();
  return sent;
}

const tooLong = (bytes: number): StoreError =>
  new StoreError(
    "refused",
    `The object is longer than ${bytes} bytes, which was not expected, and would need more than ${mostParts} parts.`,
  );
