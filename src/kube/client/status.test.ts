import assert from "node:assert/strict";
import { test } from "node:test";
import { isExpired } from "./errors.ts";
import { apiErrorOfResponse, apiErrorOfStatus } from "./status.ts";

test("a Status becomes an error with code, reason, causes and the time to wait", () => {
  const status = {
    kind: "Status",
    code: 409,
    reason: "Conflict",
    message: "Apply failed",
    details: {
      causes: [{ reason: "FieldManagerConflict", field: ".spec", message: "conflict with kubectl" }, "odd"],
      retryAfterSeconds: 2,
    },
  };
  const error = apiErrorOfResponse("PATCH /x", 409, undefined, JSON.stringify(status));
  assert.equal(error.code, 409);
  assert.equal(error.reason, "Conflict");
  assert.equal(error.message, "Apply failed");
  assert.deepEqual(error.causes, [
    { reason: "FieldManagerConflict", field: ".spec", message: "conflict with kubectl" },
  ]);
  assert.equal(error.retryAfter, 2000);
});

test("the Retry-After header goes before the body; a date or a zero says nothing", () => {
  const body = JSON.stringify({ kind: "Status", code: 429, details: { retryAfterSeconds: 9 } });
  assert.equal(apiErrorOfResponse("GET /x", 429, "1", body).retryAfter, 1000);
  assert.equal(apiErrorOfResponse("GET /x", 429, "0", "").retryAfter, undefined);
  assert.equal(apiErrorOfResponse("GET /x", 429, "Wed, 21 Oct 2015 07:28:00 GMT", "").retryAfter, undefined);
});

test("a page from something in between is known by its code, and shown", () => {
  const error = apiErrorOfResponse("GET /api", 502, undefined, "<html>Bad Gateway</html>");
  assert.equal(error.code, 502);
  assert.equal(error.reason, "Unknown");
  assert.match(error.message, /GET \/api.*502.*Bad Gateway/);
  assert.equal(apiErrorOfResponse("GET /api", 503, undefined, "").reason, "ServiceUnavailable");
});

test("both forms of 410 mean that the version expired", () => {
  assert.ok(isExpired(apiErrorOfStatus({ kind: "Status", code: 410, reason: "Gone" })));
  assert.ok(isExpired(apiErrorOfStatus({ kind: "Status", code: 410, reason: "Expired" })));
  assert.ok(isExpired(apiErrorOfResponse("GET /x", 410, undefined, "gone")));
});
