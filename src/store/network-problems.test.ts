import assert from "node:assert/strict";
import { test } from "node:test";
import { networkProblem } from "./network-problems.ts";

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
