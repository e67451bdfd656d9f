import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { PayloadHash } from "./payload-hash.ts";

const large = randomBytes(2 * 1024 * 1024);
const small = randomBytes(100);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const sha256 = (...pieces: readonly (string | Uint8Array)[]): string => {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
};

describe("the hash of a payload", () => {
  const cases: Readonly<Record<string, readonly (string | Uint8Array)[]>> = {
    "of nothing": [],
    "of a text": ["text"],
    "of a small body": [small],
    "of a part": [large],
    "of a large piece and more": [large, small, "text"],
    "of a small piece and a large one": [small, large],
  };
  for (const [what, pieces] of Object.entries(cases))
    test(`${what} is its SHA-256, also after a reset`, async () => {
      const hash = new PayloadHash();
      for (let round = 0; round < 2; round += 1) {
        for (const piece of pieces) hash.update(piece);
        assert.equal(hex(await hash.digest()), sha256(...pieces));
        hash.reset();
      }
    });

  test("of a part of a larger buffer covers that part only", async () => {
    const hash = new PayloadHash();
    hash.update(large.subarray(17));
    assert.equal(hex(await hash.digest()), sha256(large.subarray(17)));
  });

  test("with a secret is an HMAC, of large bodies too", async () => {
    for (const body of [small, large]) {
      const hash = new PayloadHash("secret");
      hash.update(body);
      assert.equal(hex(await hash.digest()), createHmac("sha256", "secret").update(body).digest("hex"));
    }
  });
});
