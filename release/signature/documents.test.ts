import assert from "node:assert/strict";
import { createPublicKey, createSign, generateKeyPairSync, sign as signBytes } from "node:crypto";
import { describe, test } from "node:test";
import { Failure } from "../verify/failure.ts";
import { insistSigned, publicKey } from "../verify/signatures.ts";
import { enveloped, imagePayload, signedBytes } from "./documents.ts";
import { readSums, sumsText } from "./sums.ts";

describe("what is signed", () => {
  test("an envelope signs its type and its payload, as DSSE says", () => {
    const bytes = signedBytes("http://example.com/HelloWorld", Buffer.from("hello world"));
    assert.equal(bytes.toString(), "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
  });

  test("an envelope has the signature of exactly these bytes", async () => {
    let signed = "";
    const envelope = await enveloped({ a: 1 }, async (bytes) => {
      signed = bytes.toString();
      return "c2ln";
    });
    assert.equal(signed, 'DSSEv1 28 application/vnd.in-toto+json 7 {"a":1}');
    assert.deepEqual(envelope, {
      payloadType: "application/vnd.in-toto+json",
      payload: Buffer.from('{"a":1}').toString("base64"),
      signatures: [{ sig: "c2ln" }],
    });
  });

  test("the payload of an image names its digest where cosign looks", () => {
    const payload = JSON.parse(
      imagePayload({ repository: "a.example.com/x", tag: "1", digest: "sha256:1" }),
    ) as unknown;
    assert.deepEqual(payload, {
      critical: {
        identity: { "docker-reference": "a.example.com/x" },
        image: { "docker-manifest-digest": "sha256:1" },
        type: "cosign container image signature",
      },
      optional: null,
    });
  });
});

describe("SHA256SUMS", () => {
  const sums = [
    { file: "a b.yaml", hash: "0".repeat(64) },
    { file: "c/d", hash: "f".repeat(64) },
  ];
  test("is read as it is written", () => assert.deepEqual(readSums(sumsText(sums)), sums));
  for (const damaged of ["x", `${"0".repeat(63)}  a\n`, `${"0".repeat(64)} a\n`, sumsText(sums).trimEnd()])
    test(`is damaged as ${JSON.stringify(damaged.slice(-12))}`, () => assert.equal(readSums(damaged), undefined));
});

describe("signatures", () => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
  const content = Buffer.from("content");
  const signature = createSign("sha256").update(content).sign(pair.privateKey).toString("base64");

  test("of a key of cosign hold for the bytes that were signed", () => {
    insistSigned(content, signature, publicKey(pem, "the key"), "it");
  });

  test("of an Ed25519 key hold, too", () => {
    const other = generateKeyPairSync("ed25519");
    insistSigned(content, signBytes(null, content, other.privateKey).toString("base64"), other.publicKey, "it");
  });

  test("hold for no other bytes, and for no other key", () => {
    const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
    assert.throws(() => insistSigned(Buffer.from("x"), signature, createPublicKey(pem), "it"), Failure);
    assert.throws(() => insistSigned(content, signature, other.publicKey, "it"), /another key signed it/);
    assert.throws(() => insistSigned(content, "", createPublicKey(pem), "it"), Failure);
  });

  test("are refused in any other spelling of the same bytes", () => {
    // A signature has 70 to 72 bytes, and 72 need no padding.
    const unpadded = signature.endsWith("=") ? signature.replace(/=*$/, "") : `${signature}=`;
    for (const other of [`${signature}\n`, unpadded, ` ${signature}`])
      assert.throws(() => insistSigned(content, other, createPublicKey(pem), "it"), Failure);
  });

  test("are refused with a key that is none", () => {
    assert.throws(() => publicKey("-----BEGIN", "cosign.pub"), /cosign\.pub is not a public key/);
  });
});
