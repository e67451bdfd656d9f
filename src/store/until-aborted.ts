// Reads a body until a signal ends it, even where the body is silent.

export async function* untilAborted<T>(body: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  if (!signal) {
    yield* body;
    return;
  }
  const iterator = body[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  const onAbort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  let ended = false;
  try {
    signal.throwIfAborted();
    while (true) {
      const next = await Promise.race([iterator.next(), aborted.promise]);
      if (next.done === true) {
        ended = true;
        return;
      }
      yield next.value;
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
