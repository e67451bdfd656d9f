// Retries of the S3 client, each request for itself. The SDK's own strategy has a budget for the life of a client that
// success refills only in part: a long upload over a bad line uses it up and then fails at the first trouble.
import type { S3ClientConfig } from "@aws-sdk/client-s3";
import { attempts, delayAfter } from "../retries.ts";

type Strategy = Extract<NonNullable<S3ClientConfig["retryStrategy"]>, { acquireInitialRetryToken: unknown }>;
type Token = Awaited<ReturnType<Strategy["acquireInitialRetryToken"]>>;

/** A store may ask for more patience than we have of ourselves. */
const longestAskedMs = 10_000;

export const s3Retries: Strategy = {
  acquireInitialRetryToken: async () => token(0, 0),
  async refreshRetryTokenForRetry(before, { errorType, retryAfterHint }) {
    const done = before.getRetryCount() + 1;
    if (done >= attempts || errorType === "CLIENT_ERROR") throw new Error("no further attempt");
    const asked = retryAfterHint ? Math.min(retryAfterHint.getTime() - Date.now(), longestAskedMs) : 0;
    return token(done, Math.max(asked, delayAfter(done)));
  },
  recordSuccess: () => undefined,
};

const token = (count: number, delayMs: number): Token => ({
  getRetryCount: () => count,
  getRetryDelay: () => delayMs,
});
