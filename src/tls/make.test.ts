import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { before, describe, test } from "node:test";
import { includes, signerOf } from "./ca-bundle.ts";
import { checkBundle } from "./check.ts";
import { type Authority, makeAuthority, makeLeaf } from "./make.ts";
import type { KeyPair } from "./pem.ts";
import { renewAt } from "./validity.ts";

const now = Date.parse("2026-11-17T12:00:00Z");
const day = 86_400_000;
const names = ["*.c.ns.svc", "localhost"];

describe("what is made", () => {
  let authority: Authority;
  let leaf: KeyPair;

  before(async () => {
    authority = await makeAuthority("ns/c peer CA", now);
    leaf = await makeLeaf(authority, { commonName: "c", names, ips: ["127.0.0.1"], use: "both" }, now);
  });

  test("a CA lives ten years, is a CA and may sign only members and clients", () => {
    const ca = new X509Certificate(authority.cert);
    assert.ok(ca.ca);
    assert.ok(ca.verify(ca.publicKey));
    assert.equal(ca.publicKey.asymmetricKeyDetails?.namedCurve, "prime256v1");
    assert.equal(ca.validFromDate.getTime(), now - 300_000);
    assert.equal(ca.validToDate.getTime(), now + 3650 * day);
    assert.match(ca.subject, /^CN=ns\/c peer CA [0-9a-f]{8}$/);
  });

  test("a certificate lives 90 days and is what was asked for", () => {
    const certificate = new X509Certificate(leaf.cert);
    assert.equal(certificate.subject, "CN=c");
    assert.equal(certificate.ca, false);
    assert.equal(certificate.validFromDate.getTime(), now - 300_000);
    assert.equal(certificate.validToDate.getTime(), now + 90 * day);
    assert.equal(certificate.subjectAltName, "DNS:*.c.ns.svc, DNS:localhost, IP Address:127.0.0.1");
    assert.equal(checkBundle({ ca: authority.cert, pair: leaf }, { names, use: "both" }, now), undefined);
  });

  test("a certificate for one use is not fit for the other", async () => {
    const bundle = async (use: "server" | "client") => ({
      ca: authority.cert,
      pair: await makeLeaf(authority, { commonName: "c", names, use }, now),
    });
    assert.equal(checkBundle(await bundle("server"), { names, use: "server" }, now), undefined);
    assert.equal(checkBundle(await bundle("server"), { names, use: "client" }, now)?.t, "wrongUse");
    assert.equal(checkBundle(await bundle("client"), { names, use: "server" }, now)?.t, "wrongUse");
  });

  test("a common name is taken as it is, whatever is in it", async () => {
    const pair = await makeLeaf(authority, { commonName: "a, O=system:masters+b", names: [], use: "client" }, now);
    const { subject, subjectAltName } = new X509Certificate(pair.cert);
    assert.doesNotMatch(subject, /^O=/m);
    assert.equal(subjectAltName, undefined);
  });

  test("two CAs of one name are distinct, and so are serial numbers", async () => {
    const other = await makeAuthority("ns/c peer CA", now);
    const [a, b] = [new X509Certificate(authority.cert), new X509Certificate(other.cert)];
    assert.notEqual(a.subject, b.subject);
    assert.notEqual(a.serialNumber, b.serialNumber);
    assert.equal(a.serialNumber.length, 32);
    assert.equal(includes(authority.cert, other.cert), false);
    assert.equal(signerOf(leaf.cert, other.cert), undefined);
  });

  test("a certificate does not outlive its CA", async () => {
    const late = now + 3600 * day;
    const pair = await makeLeaf(authority, { commonName: "c", names, use: "both" }, late);
    assert.equal(new X509Certificate(pair.cert).validToDate.getTime(), now + 3650 * day);
  });

  test("renewal is due at two thirds of a life, before the first warning", () => {
    assert.equal(renewAt(leaf.cert), now - 300_000 + ((90 * day + 300_000) * 2) / 3);
    assert.ok(renewAt(leaf.cert) < now + 60 * day);
    assert.equal(renewAt("not a certificate"), 0);
  });
});
