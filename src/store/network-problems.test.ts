import assert from "node:assert/strict";
import { test } from "node:test";
import { networkProblem, statusProblem } from "./network-problems.ts";

const failed = (code: string, cause?: unknown): Error =>
  Object.assign(new Error(`failed: ${code}`, { cause }), { code });

test("transient problems are distinguished from those that somebody has to correct", () => {
  const cases = {
    ECONNREFUSED: ["unavailable", /nothing listens/],
    ENOTFOUND: ["unavailable", /not known to DNS/],
    ETIMEDOUT: ["unavailable", /in time/],
    ECONNRESET: ["unavailable", /broke off/],
    CERT_HAS_EXPIRED: ["refused", /has expired/],
    SELF_SIGNED_CERT_IN_CHAIN: ["refused", /not trusted/],
    ERR_TLS_CERT_ALTNAME_INVALID: ["refused", /another name/],
  } as const;
  for (const [code, [expected, what]] of Object.entries(cases)) {
    const found = networkProblem(failed(code));
    assert.equal(found?.code, expected, code);
    assert.match(found.what ?? "", what);
  }
});

test("the socket's error is found below others", () => {
  assert.equal(networkProblem(new Error("fetch failed", { cause: failed("ECONNREFUSED") }))?.code, "unavailable");
  const several = new AggregateError([failed("ECONNREFUSED"), failed("ECONNREFUSED")]);
  assert.match(networkProblem(several)?.what ?? "", /nothing listens/);
});

test("what is no error of the network is left alone", () => {
  assert.equal(networkProblem(new Error("a mistake in the program")), undefined);
  assert.equal(networkProblem(failed("ENOENT")), undefined);
  assert.equal(networkProblem("text"), undefined);
  const endless = new Error("endless");
  endless.cause = endless;
  assert.equal(networkProblem(endless), undefined);
});

test("a status alone says what it can", () => {
  const codes = [401, 403, 507, 429, 500, 599, 499, 400].map((status) => statusProblem(status, "said"));
  assert.deepEqual(
    codes.map(({ code }) => code),
    ["badCredentials", "forbidden", "full", "unavailable", "unavailable", "unavailable", "refused", "refused"],
  );
  assert.deepEqual(
    codes.map(({ said }) => said),
    ["said", "said", "said", "429 said", "500 said", "599 said", "499 said", "400 said"],
  );
});

test("a code without words is said itself", () => {
  assert.equal(networkProblem(Object.assign(new Error(""), { code: "ECONNRESET" }))?.said, "ECONNRESET");
  assert.equal(networkProblem(failed("ECONNRESET"))?.said, "failed: ECONNRESET");
});
