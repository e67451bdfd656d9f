// How often and how late a request to S3 is sent again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { attempts } from "../retries.ts";
import { s3Retries } from "./s3-retries.ts";

const first = () => s3Retries.acquireInitialRetryToken("");

test("a request is sent a few times, later each time, and then no more", async () => {
  let token = await first();
  assert.deepEqual([token.getRetryCount(), token.getRetryDelay()], [0, 0]);
  for (let done = 1; done < attempts; done += 1) {
    token = await s3Retries.refreshRetryTokenForRetry(token, { errorType: "TRANSIENT" });
    assert.equal(token.getRetryCount(), done);
    const full = 200 * 2 ** (done - 1);
    assert.ok(token.getRetryDelay() >= full / 2 && token.getRetryDelay() <= full, `${token.getRetryDelay()}`);
  }
  await assert.rejects(s3Retries.refreshRetryTokenForRetry(token, { errorType: "TRANSIENT" }), /no further attempt/);
});

test("what the client did wrong is not sent again", async () => {
  await assert.rejects(s3Retries.refreshRetryTokenForRetry(await first(), { errorType: "CLIENT_ERROR" }));
});

test("a store may ask for more patience, and not for any amount of it", async () => {
  const delay = async (ms: number): Promise<number> => {
    const retryAfterHint = new Date(Date.now() + ms);
    return (
      await s3Retries.refreshRetryTokenForRetry(await first(), { errorType: "THROTTLING", retryAfterHint })
    ).getRetryDelay();
  };
  const some = await delay(5_000);
  assert.ok(some > 1_000 && some <= 5_000, `${some}`);
  assert.equal(await delay(3_600_000), 10_000);
  const past = await delay(-5_000);
  assert.ok(past >= 100 && past <= 200, `${past}`);
});
