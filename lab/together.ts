// Work that runs side by side and fails as one: the first failure stops the others, and nobody is left running when
// the caller goes on to clean up.
export async function together<T>(
  signal: AbortSignal,
  tasks: readonly ((signal: AbortSignal) => Promise<T>)[],
): Promise<T[]> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const results = await Promise.allSettled(
    tasks.map(async (task) => {
      try {
        return await task(either);
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    }),
  );
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
  return results.filter((result) => result.status === "fulfilled").map((result) => result.value);
}
