// Requests to an API server that a fault may keep from answering: sent again until it does.
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, isAlreadyExists } from "../src/kube/client/errors.ts";

const everyMs = 500;
const patienceMs = 120_000;
/** Limits of one request. */
export const answerWithin = { deadline: 5_000 } as const;

/** What the API server refuses is refused, and not asked for again. */
export async function insist<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
  const until = Date.now() + patienceMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await send();
    } catch (error) {
      const isRefusal = error instanceof ApiError && error.code < 500 && error.reason !== "TooManyRequests";
      if (isRefusal || Date.now() > until) throw error;
    }
    await sleep(everyMs, undefined, { signal });
  }
}

/** For creations: that it is there already may be the answer to the request before, which nobody got. */
export async function insistOnMaking(signal: AbortSignal, create: () => Promise<unknown>): Promise<void> {
  await insist(signal, () =>
    create().catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    }),
  );
}
