// Reads a body until a signal ends it, even where the body is silent.

export async function* untilAborted<T>(body: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  if (!signal) {
    yield* body;
    return;
  }
  const iterator = body[Symbol.asyncIterator]();
  // One promise for each piece: a race with one that lasts as long as the body would keep every piece in memory.
  let stop: (reason: Error) => void = () => undefined;
  const next = (): Promise<IteratorResult<T>> =>
    new Promise((resolve, reject) => {
      stop = reject;
      iterator.next().then(resolve, reject);
    });
  const onAbort = (): void => stop(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  let ended = false;
  try {
    while (true) {
      signal.throwIfAborted();
      const piece = await next();
      if (piece.done === true) {
        ended = true;
        return;
      }
      yield piece.value;
    }
  } catch (error) {
    // What threw has ended; what was left behind by the signal has not.
    ended = !signal.aborted;
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    // Not awaited: a generator takes this up only after what it waits for.
    if (!ended) iterator.return?.()?.catch(() => undefined);
  }
}
