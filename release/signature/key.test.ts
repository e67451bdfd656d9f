import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { insistSigned, publicKey } from "../verify/signatures.ts";
import { publicKeyOf, signingKey } from "./key.ts";
import { signatureFor } from "./sign.ts";

test("a machine without COSIGN_KEY makes a key of its own, once, that nobody else may read", async () => {
  const cache = await mkdtemp(path.join(tmpdir(), "release-key-test-"));
  try {
    const env = { ETCD_OPERATOR_CACHE: cache };
    const signer = await signingKey(env);
    assert.equal((await stat(path.join(cache, "release-key/key.pem"))).mode & 0o777, 0o600);
    const pem = await publicKeyOf(signer);
    assert.equal(await publicKeyOf(await signingKey(env)), pem);
    insistSigned(Buffer.from("content"), await signatureFor("content", signer), publicKey(pem, "the key"), "it");
  } finally {
    await rm(cache, { recursive: true });
  }
});

test("COSIGN_KEY is left to cosign, with its password", async () => {
  assert.deepEqual(await signingKey({ COSIGN_KEY: "awskms:///alias/a", COSIGN_PASSWORD: "b" }), {
    t: "cosign",
    key: "awskms:///alias/a",
    password: "b",
  });
});
