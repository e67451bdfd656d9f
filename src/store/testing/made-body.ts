// Bodies of made data for tests: of any length, in chunks of any size, in memory that is overwritten after each chunk.
import { createHash } from "node:crypto";

export interface MadeBody {
  readonly bytes: number;
  /** Every chunk has this size but the last. */
  readonly chunk?: number;
  /** Other seeds make other data. */
  readonly seed?: number;
}

/** The same memory over and over, as a producer that reuses its buffers does. */
export async function* made({ bytes, chunk = 32 * 1024, seed = 1 }: MadeBody): AsyncGenerator<Uint8Array> {
  const memory = Buffer.alloc(Math.min(chunk, Math.max(bytes, 1)));
  for (let at = 0; at < bytes; at += chunk) {
    const size = Math.min(chunk, bytes - at);
    memory.fill((at / chunk + seed) % 251);
    for (let mark = 0; mark + 8 <= size; mark += 512) memory.writeDoubleLE(at + mark + seed, mark);
    yield memory.subarray(0, size);
    memory.fill(0xee);
  }
}

export async function digest(body: AsyncIterable<Uint8Array>): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of body) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** This many bytes, and then `then` happens in place of the rest. */
export async function* brokenOff(bytes: number, then: () => Promise<void>): AsyncGenerator<Uint8Array> {
  yield* made({ bytes });
  await then();
}
