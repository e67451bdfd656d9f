// What S3 and what speaks S3 answer, and what is said of it: one code, one sentence, and whether it helps to try again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { S3ServiceException } from "@aws-sdk/client-s3";
import type { StoreErrorCode } from "../errors.ts";
import type { Finding, Verb } from "../sentences.ts";
import { isMissing, s3Problem, s3Refusals } from "./s3-errors.ts";

const refusal = (name: string, status?: number, message = "said"): S3ServiceException =>
  new S3ServiceException({
    name,
    message,
    $fault: "client",
    $metadata: { ...(status !== undefined && { httpStatusCode: status }) },
  });
const found = (error: Error, to: Verb = "read"): Finding | undefined => s3Refusals.finding(error, to);
const socket = (code: string): Error => Object.assign(new Error("socket"), { code });

test("what the store calls by a name has a code", () => {
  const rows: readonly [string, StoreErrorCode][] = [
    ["NoSuchBucket", "noBucket"],
    ["SignatureDoesNotMatch", "badCredentials"],
    ["AccessDenied", "forbidden"],
    ["PreconditionFailed", "exists"],
    ["XMinioStorageFull", "full"],
    ["ObjectLocked", "locked"],
    ["SlowDown", "unavailable"],
  ];
  for (const [name, code] of rows) assert.deepEqual(found(refusal(name, 400)), { code, said: `${name}: said` }, name);
});

test("a name is not said twice", () => {
  assert.equal(found(refusal("AccessDenied", 403, "AccessDenied"))?.said, "AccessDenied");
  assert.equal(found(refusal("AccessDenied", 403, "UnknownError"))?.said, "AccessDenied");
});

test("an object that is kept is locked for who writes or deletes it, whatever the store calls that", () => {
  for (const words of ["Object Lock is on", "by its retention", "under legal hold", "WORM protected", "is immutable"]) {
    for (const to of ["write", "delete"] as const)
      assert.equal(found(refusal("AccessDenied", 403, words), to)?.code, "locked");
    for (const to of ["read", "list", "look up"] as const)
      assert.equal(found(refusal("AccessDenied", 403, words), to)?.code, "forbidden");
  }
});

test("a store that is full is told by its words", () => {
  for (const words of ["no space left on device", "disk quota exceeded", "quota of the bucket exceeded"])
    assert.equal(found(refusal("InternalError", 500, words))?.code, "full");
});

test("what a person has to set is said, with what to set", () => {
  for (const [name, what, advice] of [
    ["AuthorizationHeaderMalformed", /region is not the one/, /^Set the region/],
    ["PermanentRedirect", /another region/, /Set its region/],
    ["SecondLevelDomainForbidden", /in the host's name/, /forcePathStyle/],
    ["RequestTimeTooSkewed", /clocks/, /Set the clock/],
  ] as const) {
    const { code, what: is = "", advice: asks = "" } = found(refusal(name, 400)) ?? {};
    assert.equal(code, "refused");
    assert.match(is, what);
    assert.match(asks, advice);
  }
});

test("the socket's error says more than the SDK's name for it", () => {
  const timeout = Object.assign(new Error("late", { cause: socket("ECONNRESET") }), { name: "TimeoutError" });
  assert.deepEqual(found(timeout), {
    code: "unavailable",
    said: "TimeoutError: late",
    what: "the connection broke off",
  });
  assert.deepEqual(found(Object.assign(new Error("late"), { name: "TimeoutError" })), {
    code: "unavailable",
    said: "TimeoutError: late",
  });
  assert.equal(found(socket("ECONNREFUSED"))?.what, "nothing listens at the endpoint");
  // Which says nothing of what the store refused.
  const denied = Object.assign(new Error("no", { cause: socket("ECONNRESET") }), { name: "AccessDenied" });
  assert.equal(found(denied)?.what, undefined);
});

test("an answer without a name that is known counts by its status", () => {
  assert.equal(found(refusal("Strange", 503))?.code, "unavailable");
  assert.equal(found(refusal("Strange", 403))?.code, "forbidden");
  assert.deepEqual(found(refusal("Strange", 400)), { code: "refused", said: "400 Strange: said" });
});

test("what answers and does not speak S3 is no store", () => {
  const page = Object.assign(new Error("char '<' is not expected"), { $response: { statusCode: 200 } });
  assert.match(found(page)?.what ?? "", /does not speak S3/);
  const other = Object.assign(new Error("char '<' is not expected"), { $metadata: { httpStatusCode: 502 } });
  assert.equal(found(other)?.code, "unavailable");
  assert.equal(found(other)?.what, undefined);
});

test("what has no status, and what is no error of a store, is left alone", () => {
  assert.equal(found(new TypeError("a mistake in the program")), undefined);
  for (const odd of [{ $metadata: null }, { $metadata: 7 }, { $metadata: {} }, { $response: null }, { $response: {} }])
    assert.equal(found(Object.assign(new Error("odd"), odd)), undefined);
  for (const status of [{ $metadata: { httpStatusCode: "500" } }, { $response: { statusCode: "500" } }])
    assert.equal(s3Problem(Object.assign(new Error("odd"), status)).status, undefined);
  assert.deepEqual(s3Problem("text"), { name: "", status: undefined, message: "text" });
});

test("an object or an upload that is missing is no error; a missing bucket is one", () => {
  for (const name of ["NoSuchKey", "NotFound", "NoSuchUpload"]) assert.ok(isMissing(refusal(name, 404)));
  assert.ok(!isMissing(refusal("NoSuchBucket", 404)));
});
