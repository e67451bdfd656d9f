// What Azure answers, and what is said of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RestError } from "@azure/storage-blob";
import type { StoreErrorCode } from "../errors.ts";
import type { Finding } from "../sentences.ts";
import { azureProblem, azureRefusals, isMissing } from "./azure-errors.ts";

const refusal = (code: string | undefined, statusCode?: number, message = "said\nRequestId:1"): RestError =>
  new RestError(message, { ...(code !== undefined && { code }), ...(statusCode !== undefined && { statusCode }) });
const found = (error: Error): Finding | undefined => azureRefusals.finding(error, "read");

test("what Azure calls by a name has a code, and only the first line is said", () => {
  const rows: readonly [string, StoreErrorCode][] = [
    ["ContainerNotFound", "noBucket"],
    ["AuthenticationFailed", "badCredentials"],
    ["AuthorizationPermissionMismatch", "forbidden"],
    ["BlobAlreadyExists", "exists"],
    ["BlobImmutableDueToPolicy", "locked"],
    ["AccountCapacityExceeded", "full"],
    ["ServerBusy", "unavailable"],
  ];
  for (const [name, code] of rows) assert.deepEqual(found(refusal(name, 400)), { code, said: `${name}: said` }, name);
  assert.equal(found(refusal("ServerBusy", 503, "ServerBusy, said"))?.said, "ServerBusy, said");
});

test("a wrong key is told by its words, an identity by its class, and a body that broke off by the SDK's name for it", () => {
  assert.equal(found(refusal("Other", 403, "Server failed to authenticate the request."))?.code, "badCredentials");
  for (const name of ["CredentialUnavailableError", "AuthenticationError", "AggregateAuthenticationError"])
    assert.deepEqual(found(Object.assign(new Error("no identity\nmore"), { name })), {
      code: "badCredentials",
      said: "no identity",
    });
  assert.deepEqual(found(Object.assign(new Error("aborted"), { name: "AbortError" })), {
    code: "unavailable",
    what: "the answer broke off",
    said: "aborted",
  });
});

test("without a name the status counts, then the socket, and an answer that is none", () => {
  assert.equal(found(refusal(undefined, 503))?.code, "unavailable");
  assert.equal(found(refusal("Odd", 403))?.code, "forbidden");
  assert.equal(found(refusal(undefined, 400))?.said, "400 said");
  const refused = Object.assign(new Error("x"), { code: "ECONNREFUSED" });
  assert.equal(found(refused)?.what, "nothing listens at the endpoint");
  assert.deepEqual(found(refusal("PARSE_ERROR")), { code: "unavailable", said: "PARSE_ERROR: said" });
  assert.equal(found(new TypeError("a mistake in the program")), undefined);
});

test("a blob that is missing is no error, even where there is no name for it; a missing container is one", () => {
  assert.ok(isMissing(refusal("BlobNotFound", 404)));
  assert.ok(isMissing(refusal(undefined, 404)));
  for (const error of [
    refusal("ContainerNotFound", 404),
    refusal("ContainerBeingDeleted", 404),
    refusal(undefined, 403),
    new Error("x"),
  ])
    assert.ok(!isMissing(error));
  assert.deepEqual(azureProblem(new Error("x")), { code: "", status: undefined });
});
