// Runs tasks concurrently. The first failure aborts the others, and the call returns only when all have ended, so that the
// caller can clean up.
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
