// What Google answers, what is said of it, and what is sent again.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoreErrorCode } from "../errors.ts";
import { attempts } from "../retries.ts";
import type { Finding } from "../sentences.ts";
import { gcsRefusals, isMissing } from "./gcs-errors.ts";
import { GcsRefusal, withRetries } from "./gcs-http.ts";

const refusal = (status: number, message = "said", reason = ""): GcsRefusal =>
  new GcsRefusal(status, JSON.stringify({ error: { message, errors: [{ reason }] } }));
const found = (error: Error): Finding | undefined => gcsRefusals.finding(error, "write");

test("a refusal has a code by its status, its reason or its words", () => {
  const rows: readonly [GcsRefusal, StoreErrorCode][] = [
    [refusal(404), "noBucket"],
    [refusal(412), "exists"],
    [refusal(408), "unavailable"],
    [refusal(410), "unavailable"],
    [refusal(429), "unavailable"],
    [refusal(500), "unavailable"],
    [refusal(401), "badCredentials"],
    [refusal(403), "forbidden"],
    [refusal(403, "said", "retentionPolicyNotMet"), "locked"],
    [refusal(403, "said", "objectUnderActiveHold"), "locked"],
    [refusal(403, "subject to a retention policy"), "locked"],
    [refusal(403, "quota", "quotaExceeded"), "full"],
    [refusal(400), "refused"],
  ];
  for (const [error, code] of rows) assert.equal(found(error)?.code, code, error.message);
  assert.equal(found(refusal(403, "no", "forbidden"))?.said, "403 forbidden: no");
  assert.equal(found(refusal(403, "no"))?.said, "403: no");
});

test("an answer that is not Google's is quoted, and not all of it", () => {
  assert.equal(new GcsRefusal(502, "<html>").message, "<html>");
  assert.equal(new GcsRefusal(502, "").message, "status 502");
  assert.equal(new GcsRefusal(502, "{}").message, "status 502");
  assert.equal(new GcsRefusal(502, "x".repeat(5000)).message.length, 300);
});

test("a missing object is no error; a missing bucket is one", () => {
  assert.ok(isMissing(refusal(404)));
  assert.ok(!isMissing(refusal(404, "The specified bucket does not exist.")));
  assert.ok(!isMissing(refusal(403)));
  assert.ok(!isMissing(new Error("x")));
});

test("credentials that cannot be used are told apart from a service that does not give any now", () => {
  const asked = (status: unknown): Error => Object.assign(new Error("token"), { response: { status } });
  assert.equal(found(asked(503))?.code, "unavailable");
  assert.equal(found(asked(500))?.code, "unavailable");
  assert.equal(found(asked(400))?.code, "badCredentials");
  assert.equal(found(asked("503"))?.code, "badCredentials");
  assert.equal(found(Object.assign(new Error("token"), { response: null }))?.code, "badCredentials");
  assert.equal(found(new Error("invalid_grant"))?.code, "badCredentials");
  assert.equal(found(Object.assign(new Error("x"), { code: "ECONNREFUSED" }))?.code, "unavailable");
  assert.equal(found(new Error("a mistake in the program")), undefined);
});

/** How often it was tried. */
async function tries(error: Error, signal?: AbortSignal): Promise<number> {
  let tried = 0;
  const work = async (attempt: number): Promise<never> => {
    tried += 1;
    assert.equal(attempt, tried);
    throw error;
  };
  await assert.rejects(withRetries(work, signal));
  return tried;
}

test("what may pass is tried a few times, and nothing else", async () => {
  const reset = Object.assign(new Error("x"), { code: "ECONNRESET" });
  const expired = Object.assign(new Error("x"), { code: "CERT_HAS_EXPIRED" });
  const counts = await Promise.all(
    [refusal(503), refusal(500), refusal(429), refusal(408), reset].map((error) => tries(error)),
  );
  assert.deepEqual(counts, [attempts, attempts, attempts, attempts, attempts]);
  for (const error of [refusal(404), refusal(499), expired, new Error("x")]) assert.equal(await tries(error), 1);
});

test("an abort ends the tries, with its own reason", async () => {
  const stop = new AbortController();
  const work = async (): Promise<never> => {
    stop.abort(new Error("enough"));
    throw refusal(503);
  };
  await assert.rejects(withRetries(work, stop.signal), /enough/);
});
