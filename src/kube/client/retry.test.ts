import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { TransportError, type TransportFailure } from "../../transport/errors.ts";
import { ApiError } from "./errors.ts";
import { type RequestAttempt, retryDelay } from "./retry.ts";

const first: RequestAttempt = { count: 1, repeatability: "idempotent", remaining: 60_000, chance: 0 };
const transport = (failure: TransportFailure) => new TransportError(failure, failure);
const api = (code: number, retryAfter?: number, cause?: string) =>
  new ApiError(code, "Reason", "message", cause === undefined ? [] : [{ reason: cause }], retryAfter);

// What happens to a read, and to a create, that failed for the first time.
const table: { on: string; error: unknown; idempotent: number | undefined; once: number | undefined }[] = [
  { on: "refused connection", error: transport("unreachable"), idempotent: 250, once: 250 },
  { on: "silent peer", error: transport("connectTimeout"), idempotent: 250, once: 250 },
  { on: "turned away", error: transport("unprocessed"), idempotent: 50, once: 50 },
  { on: "broken connection", error: transport("broken"), idempotent: 50, once: undefined },
  { on: "dead peer", error: transport("dead"), idempotent: 50, once: undefined },
  { on: "wrong certificate", error: transport("tls"), idempotent: undefined, once: undefined },
  { on: "deadline", error: transport("deadline"), idempotent: undefined, once: undefined },
  { on: "429", error: api(429), idempotent: 250, once: 250 },
  { on: "429 with Retry-After", error: api(429, 3000), idempotent: 3000, once: 3000 },
  { on: "429 of a budget", error: api(429, 10_000, "DisruptionBudget"), idempotent: undefined, once: undefined },
  { on: "503", error: api(503), idempotent: 250, once: undefined },
  { on: "503 with Retry-After", error: api(503, 2000), idempotent: 2000, once: 2000 },
  { on: "500", error: api(500), idempotent: 250, once: undefined },
  { on: "500 with Retry-After", error: api(500, 1000), idempotent: 1000, once: undefined },
  { on: "502", error: api(502), idempotent: 250, once: undefined },
  { on: "504", error: api(504), idempotent: 250, once: undefined },
  { on: "400", error: api(400), idempotent: undefined, once: undefined },
  { on: "401", error: api(401), idempotent: undefined, once: undefined },
  { on: "403", error: api(403), idempotent: undefined, once: undefined },
  { on: "404", error: api(404), idempotent: undefined, once: undefined },
  { on: "409", error: api(409), idempotent: undefined, once: undefined },
  { on: "409 with Retry-After", error: api(409, 1000), idempotent: undefined, once: undefined },
  { on: "410", error: api(410), idempotent: undefined, once: undefined },
  { on: "422", error: api(422), idempotent: undefined, once: undefined },
  { on: "a bug", error: new TypeError("x is undefined"), idempotent: undefined, once: undefined },
];

for (const { on, error, idempotent, once } of table) {
  test(`${on}: a read ${idempotent === undefined ? "fails" : `is repeated after ${idempotent} ms`}, a create ${once === undefined ? "fails" : `after ${once} ms`}`, () => {
    assert.equal(retryDelay(error, first), idempotent);
    assert.equal(retryDelay(error, { ...first, repeatability: "once" }), once);
  });
}

test("waits grow, up to a limit", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7].map((count) => retryDelay(transport("unreachable"), { ...first, count }));
  assert.deepEqual(waits, [250, 500, 1000, 2000, 4000, 5000, 5000]);
});

test("an internal error is not repeated for ever", () => {
  assert.equal(retryDelay(api(500), { ...first, count: 2 }), 500);
  assert.equal(retryDelay(api(500), { ...first, count: 3 }), undefined);
});

test("no wait ends after the request's deadline, and what the server asked for is never cut short", () => {
  const failures = fc.constantFrom<unknown>(...table.map((row) => row.error));
  fc.assert(
    fc.property(
      failures,
      fc.integer({ min: 1, max: 200 }),
      fc.double({ min: 0, max: 100_000, noNaN: true }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (error, count, remaining, chance) => {
        const delay = retryDelay(error, { count, repeatability: "idempotent", remaining, chance });
        if (delay === undefined) return;
        assert.ok(delay >= 0 && delay < remaining);
        if (error instanceof ApiError && error.retryAfter !== undefined) assert.ok(delay >= error.retryAfter);
      },
    ),
  );
});
