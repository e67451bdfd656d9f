// The body of a stored object: a stream in large pieces, whose errors are explained, which the signal ends, and which is
// closed when its reader stops early, even before the first piece.
import { finished, type Readable } from "node:stream";

/** TLS gives a gigabyte in a hundred thousand pieces, and a reader that waits for each costs more than joining them. */
const pieceBytes = 256 * 1024;

export function bodyOf(
  stream: Readable,
  explain: (error: unknown) => unknown,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  // Without a listener an error that nobody awaits yet would end the process; the reader meets it all the same.
  stream.on("error", () => undefined);
  const onAbort = (): void => void stream.destroy(signal?.reason as Error);
  signal?.addEventListener("abort", onAbort, { once: true });
  stream.once("close", () => signal?.removeEventListener("abort", onAbort));
  if (signal?.aborted === true) onAbort();
  return {
    [Symbol.asyncIterator]() {
      const pieces = joined(stream);
      return {
        async next() {
          try {
            return await pieces.next();
          } catch (error) {
            signal?.throwIfAborted();
            throw explain(error);
          }
        },
        async return() {
          stream.destroy();
          await pieces.return(undefined);
          return { done: true, value: undefined };
        },
      };
    },
  };
}

type End = { readonly t: "whole" } | { readonly t: "failed"; readonly error: unknown };

/** Reads one piece ahead, and waits when nobody asks for it. */
async function* joined(stream: Readable): AsyncGenerator<Uint8Array, undefined> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let end: End | undefined;
  let wake: () => void = () => undefined;
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < pieceBytes) return;
    stream.pause();
    wake();
  });
  const forget = finished(stream, { writable: false }, (error) => {
    end = error ? { t: "failed", error } : { t: "whole" };
    wake();
  });
  try {
    for (;;) {
      if (bytes < pieceBytes && end === undefined) await new Promise<void>((resolve) => (wake = resolve));
      if (end?.t === "failed") throw end.error;
      if (bytes === 0 && end !== undefined) return undefined;
      const piece = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, bytes);
      chunks = [];
      bytes = 0;
      stream.resume();
      yield piece;
    }
  } finally {
    forget();
    stream.destroy();
  }
}
