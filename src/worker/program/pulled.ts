// Turns a source that pushes chunks into a stream that is pulled, without a buffer: the source waits until its chunk was
// used and the next one is asked for.

export type Push = (chunk: Uint8Array) => Promise<void>;

type End = { readonly t: "done" } | { readonly t: "failed"; readonly error: unknown };

export async function* pulled(produce: (push: Push) => Promise<unknown>): AsyncGenerator<Uint8Array> {
  let offered = Promise.withResolvers<Uint8Array | undefined>();
  let used = Promise.withResolvers<void>();
  let end: End | undefined;
  const ended = (how: End): void => {
    end = how;
    offered.resolve(undefined);
  };
  const produced = produce((chunk) => {
    offered.resolve(chunk);
    return used.promise;
  }).then(
    () => ended({ t: "done" }),
    (error: unknown) => ended({ t: "failed", error }),
  );
  try {
    for (;;) {
      const chunk = end === undefined ? await offered.promise : undefined;
      if (chunk === undefined) {
        if (end?.t === "failed") throw end.error;
        return;
      }
      yield chunk;
      const before = used;
      offered = Promise.withResolvers();
      used = Promise.withResolvers();
      before.resolve();
    }
  } finally {
    // Nobody reads any more: the source learns of it by the chunk that it waits with.
    used.promise.catch(() => {});
    used.reject(new Error("nobody reads the stream any more"));
    await produced;
  }
}

/** A stream whose first chunk was read already. */
export async function* resumed(
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
