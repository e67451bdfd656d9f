// Reading what a server presents never throws, whatever it presents: a Secret that somebody damaged is no reason to stop.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { createServer } from "node:tls";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createAuthority } from "../transport/testing/certificates.ts";
import { presentedCertificate } from "./presented-certificate.ts";

const authority = await createAuthority("a CA");
const [one, other] = [await authority.issue("one"), await authority.issue("other")];
const { signal } = new AbortController();

async function presenting(read: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(one);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await read(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
}

test("what a server presents is seen, with the certificate of a client and without", () =>
  presenting(async (url) => {
    const { fingerprint256 } = new X509Certificate(one.cert);
    for (const tls of [undefined, { ca: authority.cert, identity: other }]) {
      const seen = await presentedCertificate({ url, ...(tls && { tls }) }, signal);
      assert.equal(seen?.fingerprint, fingerprint256);
    }
  }));

for (const [what, identity] of [
  ["a key of another certificate", { cert: one.cert, key: other.key }],
  ["a key that is none", { cert: one.cert, key: "none" }],
] as const)
  test(`a client with ${what} reads nothing, and goes on`, () =>
    presenting(async (url) => {
      const seen = await presentedCertificate({ url, tls: { ca: authority.cert, identity } }, signal);
      assert.equal(seen, undefined);
    }));
