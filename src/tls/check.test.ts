import assert from "node:assert/strict";
import { generateKeyPairSync, webcrypto } from "node:crypto";
import { describe, test } from "node:test";
import { addToBundle, bundleFingerprint, includes, signerOf } from "./ca-bundle.ts";
import { checkBundle, checkSecret, type Expected } from "./check.ts";
import { type Authority, type LeafRequest, makeAuthority, makeLeaf } from "./make.ts";
import { type Bundle, type KeyPair, readBundle, type SecretUse, writeBundle } from "./pem.ts";
import { isProblem, type Problem, type ProblemKind } from "./problem.ts";
import { expiryOf, renewAt, warningOf } from "./validity.ts";
import { loadX509 } from "./x509.ts";

const now = Date.parse("2026-11-17T12:00:00Z");
const day = 86_400_000;
const names = ["*.c.ns.svc", "c-client.ns.svc", "localhost"];
const peer: Expected = { names, use: "both" };

function leafOf(authority: Authority, request: Partial<LeafRequest> = {}): Promise<KeyPair> {
  return makeLeaf(authority, { commonName: "c", names, use: "both", ...request }, now);
}

const ca: Authority = await makeAuthority("ca", now);
const other: Authority = await makeAuthority("other", now);
const good: KeyPair = await leafOf(ca);

describe("the keys of a Secret", () => {
  const rows: readonly { keys: string[]; use?: SecretUse; result: ProblemKind | "read"; says?: RegExp }[] = [
    { keys: ["peer.crt", "peer.key", "peer-ca.crt"], result: "read" },
    { keys: ["tls.crt", "tls.key", "ca.crt"], result: "read" },
    { keys: ["server.crt", "server.key", "server-ca.crt"], use: "server", result: "read" },
    { keys: ["etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt"], use: "etcd-client", result: "read" },
    { keys: ["peer-ca.crt", "tls.crt", "tls.key", "ca.crt"], result: "read" },
    { keys: [], result: "missing", says: /peer\.crt, peer\.key and peer-ca\.crt, or tls\.crt, tls\.key and ca\.crt/ },
    { keys: ["server.crt", "server.key", "server-ca.crt"], result: "missing" },
    {
      keys: ["peer.crt", "peer-ca.crt"],
      result: "incomplete",
      says: /has peer\.crt and not peer\.key\. Add peer\.key/,
    },
    { keys: ["tls.key"], result: "incomplete", says: /has tls\.key and not tls\.crt\. Add tls\.crt and ca\.crt/ },
    { keys: ["peer.crt", "peer.key"], result: "missing", says: /no peer-ca\.crt/ },
    { keys: ["tls.crt", "tls.key"], result: "missing", says: /no ca\.crt.*cert-manager/ },
    { keys: ["peer-ca.crt"], result: "missing", says: /Add peer\.crt and peer\.key/ },
  ];
  for (const { keys, use = "peer", result, says } of rows)
    test(`${use} with ${keys.join(", ") || "nothing"}: ${result}`, () => {
      const answer = readBundle(use, Object.fromEntries(keys.map((key) => [key, `text of ${key}`])));
      assert.equal(isProblem(answer) ? answer.t : "read", result);
      if (says) assert.match((answer as Problem).sentence, says);
    });

  test("an empty value is a missing one", () => {
    const answer = readBundle("peer", { "tls.crt": "a", "tls.key": "b", "ca.crt": "\n" });
    assert.ok(isProblem(answer) && answer.t === "missing");
  });

  test("what is written is read, and names of etcd-operator 0.9 win over those of cert-manager", () => {
    const bundle: Bundle = { ca: "ca", pair: { cert: "cert", key: "key" } };
    const written = writeBundle("server", bundle);
    assert.deepEqual(Object.keys(written), ["server.crt", "server.key", "server-ca.crt"]);
    assert.deepEqual(readBundle("server", { "tls.crt": "1", "tls.key": "2", "ca.crt": "3", ...written }), bundle);
  });
});

describe("what a Secret holds", () => {
  const rows: readonly {
    name: string;
    bundle: () => Bundle | Promise<Bundle>;
    expected?: Partial<Expected>;
    at?: number;
    problem: ProblemKind | undefined;
    says?: RegExp;
  }[] = [
    { name: "a good one", bundle: () => ({ ca: ca.cert, pair: good }), problem: undefined },
    {
      name: "several CAs, one of which has signed it, with text between them",
      bundle: () => ({ ca: `# first\n${other.cert}\n# second\n${ca.cert}`, pair: good }),
      problem: undefined,
    },
    {
      name: "a key with parameters before it, as openssl writes them",
      bundle: () => ({
        ca: ca.cert,
        pair: {
          ...good,
          key: `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${good.key}`,
        },
      }),
      problem: undefined,
    },
    {
      name: "a certificate that is no PEM",
      bundle: () => ({ ca: ca.cert, pair: { ...good, cert: "hello" } }),
      problem: "unreadable",
      says: /^peer\.crt cannot be read/,
    },
    {
      name: "a certificate that is damaged",
      bundle: () => ({ ca: ca.cert, pair: { ...good, cert: good.cert.replace(/[A-Za-z]{20}/, "") } }),
      problem: "unreadable",
    },
    {
      name: "a CA that is no PEM",
      bundle: () => ({ ca: "hello", pair: good }),
      problem: "unreadable",
      says: /^peer-ca\.crt/,
    },
    {
      name: "a key that is no PEM",
      bundle: () => ({ ca: ca.cert, pair: { ...good, key: "hello" } }),
      problem: "unreadable",
      says: /^peer\.key/,
    },
    {
      name: "a key with a passphrase",
      bundle: () => ({ ca: ca.cert, pair: { ...good, key: keyWithPassphrase() } }),
      problem: "unreadable",
      says: /without a passphrase/,
    },
    {
      name: "the key of another certificate",
      bundle: async () => ({ ca: ca.cert, pair: { ...good, key: (await leafOf(ca)).key } }),
      problem: "mismatched",
      says: /peer\.key does not belong to the first certificate in peer\.crt/,
    },
    {
      name: "the CA before the certificate",
      bundle: () => ({ ca: ca.cert, pair: { ...good, cert: ca.cert + good.cert } }),
      problem: "mismatched",
    },
    {
      name: "another CA",
      bundle: () => ({ ca: other.cert, pair: good }),
      problem: "untrusted",
      says: /not signed by peer-ca\.crt/,
    },
    {
      name: "a certificate as CA that is none",
      bundle: async () => ({ ca: (await leafOf(ca)).cert, pair: good }),
      problem: "untrusted",
    },
    {
      name: "expired",
      bundle: () => ({ ca: ca.cert, pair: good }),
      at: now + 90 * day,
      problem: "expired",
      says: /peer\.crt expired at 2027-02-15T12:00:00\.000Z/,
    },
    {
      name: "not yet valid",
      bundle: () => ({ ca: ca.cert, pair: good }),
      at: now - 6 * 60_000,
      problem: "notYetValid",
      says: /valid from 2026-11-17T11:55:00\.000Z/,
    },
    {
      name: "valid from this very moment on",
      bundle: () => ({ ca: ca.cert, pair: good }),
      at: now - 5 * 60_000,
      problem: undefined,
    },
    {
      name: "a wildcard for two labels",
      bundle: () => ({ ca: ca.cert, pair: good }),
      expected: { names: ["a.c.ns.svc", "a.b.c.ns.svc", "c.ns.svc", "LOCALHOST"] },
      problem: "wrongNames",
      says: /does not cover a\.b\.c\.ns\.svc and c\.ns\.svc\./,
    },
    {
      name: "a name for a wildcard",
      bundle: async () => ({ ca: ca.cert, pair: await leafOf(ca, { names: ["a.c.ns.svc"] }) }),
      expected: { names: ["*.c.ns.svc"] },
      problem: "wrongNames",
    },
    {
      name: "only a common name",
      bundle: async () => ({ ca: ca.cert, pair: await leafOf(ca, { commonName: "localhost", names: [] }) }),
      expected: { names: ["localhost"] },
      problem: "wrongNames",
    },
    {
      name: "an address",
      bundle: async () => ({ ca: ca.cert, pair: await leafOf(ca, { ips: ["127.0.0.1"] }) }),
      expected: { names: ["127.0.0.1", "::1"] },
      problem: "wrongNames",
      says: /does not cover ::1\./,
    },
    {
      name: "a peer's for servers only",
      bundle: async () => ({ ca: ca.cert, pair: await leafOf(ca, { use: "server" }) }),
      problem: "wrongUse",
      says: /lacks the extended key usage client auth\..*needs server auth and client auth/,
    },
    {
      name: "a client's for a server",
      bundle: async () => ({ ca: ca.cert, pair: await leafOf(ca, { use: "client" }) }),
      expected: { use: "server" },
      problem: "wrongUse",
    },
    {
      name: "a server's whose clients have another CA",
      bundle: () => ({ ca: other.cert, pair: good }),
      expected: { use: "server", signedBy: ca.cert },
      problem: undefined,
    },
    {
      name: "a server's that the CA of its clients has not signed",
      bundle: () => ({ ca: ca.cert, pair: good }),
      expected: { use: "server", signedBy: other.cert },
      problem: "untrusted",
      says: /the CA that the other side trusts/,
    },
  ];
  for (const { name, bundle, expected, at = now, problem, says } of rows)
    test(`${name}: ${problem ?? "is used"}`, async () => {
      const given = await bundle();
      const answer = checkSecret("peer", writeBundle("peer", given), { ...peer, ...expected }, at);
      assert.equal(isProblem(answer) ? answer.t : undefined, problem);
      if (!isProblem(answer)) return assert.deepEqual(answer, given);
      if (says) assert.match(answer.sentence, says);
      const content = [given.ca, given.pair.cert, given.pair.key].join("\n").match(/[A-Za-z0-9+/=]{16,}/g) ?? [];
      assert.ok(!content.some((piece) => answer.sentence.includes(piece)), "a sentence has content of a Secret in it");
    });

  test("intermediate CAs come with the certificate", async () => {
    const { root, between, leaf } = await chain();
    const pair = { ...leaf, cert: leaf.cert + between };
    const use: Expected = { names: [], use: "both" };
    assert.equal(checkBundle({ ca: root, pair }, use, now), undefined);
    assert.equal(checkBundle({ ca: root, pair: leaf }, use, now)?.t, "untrusted");
    // As etcd sees it, an intermediate may be trusted by itself.
    assert.equal(checkBundle({ ca: between, pair: leaf }, use, now), undefined);
    const late = checkBundle({ ca: root, pair }, use, now + 2 * day);
    assert.equal(late?.t, "expired");
    assert.match(late.sentence, /intermediate CA in the certificate expired/);
    assert.equal(expiryOf(pair.cert), now + day);
  });

  test("a CA that expired before its certificates is said to be that", async () => {
    const { between, leaf } = await chain();
    const problem = checkBundle({ ca: between, pair: leaf }, { names: [], use: "both" }, now + 2 * day);
    assert.equal(problem?.t, "expired");
    assert.match(problem.sentence, /^the CA expired/i);
  });
});

describe("dates", () => {
  test("of a short life the warnings come with a quarter, a tenth and a twentieth of it left", () => {
    const hour = day / 24;
    const at = (left: number) => warningOf({ notBefore: now + left - day, notAfter: now + left }, now);
    assert.deepEqual([8 * hour, 6.1 * hour, 6 * hour, 2.4 * hour, 1.2 * hour, 0].map(at), [
      undefined,
      undefined,
      "30d",
      "7d",
      "1d",
      "expired",
    ]);
  });

  test("warnings come at 30, 7 and 1 days and when it has expired", () => {
    const at = (left: number) => warningOf({ notBefore: now + left - 365 * day, notAfter: now + left }, now);
    assert.deepEqual([31 * day, 30 * day, 7 * day + 1, 7 * day, day + 1, day, 1, 0, -day].map(at), [
      undefined,
      "30d",
      "30d",
      "7d",
      "7d",
      "1d",
      "1d",
      "expired",
      "expired",
    ]);
  });

  test("what cannot be read has no expiry and is due", () => {
    assert.ok(Number.isNaN(expiryOf("hello")));
    assert.equal(renewAt("hello"), 0);
  });
});

describe("CA bundles", () => {
  test("are the same in any order and with any text between", () => {
    const both = bundleFingerprint(ca.cert + other.cert);
    assert.equal(bundleFingerprint(`${other.cert}\n# text\n${ca.cert}${ca.cert}`), both);
    assert.notEqual(bundleFingerprint(ca.cert), both);
    assert.match(both, /^[0-9a-f]{16}$/);
    assert.notEqual(bundleFingerprint("hello"), bundleFingerprint("world"));
  });

  test("are added without doubles, and each includes its parts", () => {
    const both = addToBundle(ca.cert, ca.cert + other.cert);
    assert.equal(both.match(/BEGIN/g)?.length, 2);
    assert.ok(includes(both, other.cert) && includes(both, ca.cert) && !includes(ca.cert, both));
    assert.ok(!includes(both, "hello"));
  });

  test("a signer stays the same when the CA's own certificate is renewed with its key", async () => {
    const renewed = await sameKey(ca);
    assert.notEqual(bundleFingerprint(renewed), bundleFingerprint(ca.cert));
    assert.equal(signerOf(good.cert, renewed), signerOf(good.cert, ca.cert));
    assert.equal(signerOf(good.cert, addToBundle(ca.cert, renewed)), signerOf(good.cert, ca.cert));
    assert.equal(signerOf((await leafOf(ca)).cert, other.cert + ca.cert), signerOf(good.cert, ca.cert));
    assert.equal(signerOf(good.cert, other.cert), undefined);
  });
});

function keyWithPassphrase(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }).toString();
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);

/** A root, an intermediate that lives one day, and a certificate that outlives it. */
async function chain(): Promise<{ root: string; between: string; leaf: KeyPair }> {
  const x509 = await loadX509();
  const [rootKeys, keys] = [await newKeys(), await newKeys()];
  const issuer = [{ CN: ["root"] }];
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    name: issuer,
    keys: rootKeys,
    signingAlgorithm: algorithm,
    notBefore: new Date(now - day),
    notAfter: new Date(now + 1000 * day),
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  const between = await x509.X509CertificateGenerator.create({
    subject: [{ CN: ["between"] }],
    issuer,
    publicKey: keys.publicKey,
    signingKey: rootKeys.privateKey,
    signingAlgorithm: algorithm,
    notBefore: new Date(now - day),
    notAfter: new Date(now + day),
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  const leafKeys = await newKeys();
  const leaf = await x509.X509CertificateGenerator.create({
    subject: [{ CN: ["leaf"] }],
    issuer: [{ CN: ["between"] }],
    publicKey: leafKeys.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm: algorithm,
    notBefore: new Date(now - day),
    notAfter: new Date(now + 90 * day),
  });
  const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", leafKeys.privateKey), "PRIVATE KEY");
  const [rootPem, betweenPem, cert] = [root, between, leaf].map((one) => `${one.toString("pem")}\n`);
  return { root: rootPem ?? "", between: betweenPem ?? "", leaf: { cert: cert ?? "", key } };
}

/** A CA's certificate renewed with the name and the key that it has, as cert-manager does by default. */
async function sameKey({ cert, key }: Authority): Promise<string> {
  const x509 = await loadX509();
  const old = new x509.X509Certificate(cert);
  const der = x509.PemConverter.decode(key)[0] ?? new ArrayBuffer(0);
  const privateKey = await webcrypto.subtle.importKey("pkcs8", der, algorithm, true, ["sign"]);
  const publicKey = await webcrypto.subtle.importKey("spki", old.publicKey.rawData, algorithm, true, ["verify"]);
  const renewed = await x509.X509CertificateGenerator.createSelfSigned({
    name: old.subjectName,
    keys: { privateKey, publicKey },
    signingAlgorithm: algorithm,
    notBefore: new Date(now),
    notAfter: new Date(now + 4000 * day),
    extensions: old.extensions,
  });
  return `${renewed.toString("pem")}\n`;
}
