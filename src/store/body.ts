// The body of a stored object: a stream whose errors are explained, which the signal ends, and which is closed when its
// reader stops early, even before the first chunk.
import type { Readable } from "node:stream";

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
      const chunks: AsyncIterator<Uint8Array> = stream[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            return await chunks.next();
          } catch (error) {
            signal?.throwIfAborted();
            throw explain(error);
          }
        },
        async return() {
          stream.destroy();
          await chunks.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
