import assert from "node:assert/strict";
import { createHash, randomBytes, webcrypto } from "node:crypto";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { SealError, type SealErrorCode } from "./errors.ts";
import { chunkBytes, sealedBytes } from "./format.ts";
import { type FindKey, SealKey } from "./key.ts";
import { seal } from "./seal.ts";
import { unseal } from "./unseal.ts";

const key = new SealKey(
  "2026-11",
  Buffer.from("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "hex"),
);
const salt = Buffer.alloc(32, 0xa5);
const find: FindKey = async (id) => (id === key.id ? key : undefined);

async function* pieces(bytes: Uint8Array, size = 32 << 10): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const piece of stream) read.push(Uint8Array.from(piece));
  return Buffer.concat(read);
}

const sealed = (plain: Uint8Array, size?: number): Promise<Buffer> => all(seal(pieces(plain, size), key));
const opened = async (bytes: Uint8Array, keys = find, size?: number): Promise<Buffer> =>
  all((await unseal(pieces(bytes, size), keys)).plain);

const refusedAs = (bytes: Uint8Array, code: SealErrorCode, keys = find): Promise<void> =>
  assert.rejects(opened(bytes, keys), (error) => error instanceof SealError && error.code === code);

/** Reads by the table in format.ts alone, with other functions than ours. */
async function readByTheTable(bytes: Buffer): Promise<Buffer> {
  const { subtle } = webcrypto;
  const idBytes = bytes[9]!;
  const header = bytes.subarray(0, 10 + idBytes + 32 + 4 + 8);
  const size = header.readUInt32BE(10 + idBytes + 32);
  const ikm = await subtle.importKey("raw", Uint8Array.from(key.bytes), "HKDF", false, ["deriveKey", "deriveBits"]);
  const hkdf = (use: string) => ({
    name: "HKDF",
    hash: "SHA-256",
    salt: header.subarray(10 + idBytes, 10 + idBytes + 32),
    info: Buffer.from(`etcd-operator seal 1 ${use}`),
  });
  const check = await subtle.deriveBits(hkdf("key check"), ikm, 64);
  assert.deepEqual(Buffer.from(check), Buffer.from(header.subarray(-8)));
  const aes = await subtle.deriveKey(hkdf("object key"), ikm, { name: "AES-GCM", length: 256 }, false, ["decrypt"]);
  const body = bytes.subarray(header.length, -8);
  const plain: Buffer[] = [];
  for (let number = 0, at = 0; number === 0 || at < body.length; number += 1, at += size + 16) {
    const iv = Buffer.alloc(12);
    iv.writeUInt32BE(number, 7);
    iv[11] = at + size + 16 >= body.length ? 1 : 0;
    const chunk = body.subarray(at, at + size + 16);
    plain.push(Buffer.from(await subtle.decrypt({ name: "AES-GCM", iv, additionalData: header }, aes, chunk)));
  }
  return Buffer.concat(plain);
}

describe("an encrypted object", () => {
  test("never changes its form: the same key, salt and bytes give the same object", async () => {
    const small = await all(seal(pieces(Buffer.from("etcd")), key, salt));
    assert.equal(
      small.toString("hex"),
      "455443445345414c0107323032362d3131a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5001000001981be2513aafc14752e2154e4f516ab8d4359f8fb15f2e101d295de4c41455344435445",
    );
    const plain = Buffer.alloc(2 * chunkBytes + 7, "etcd");
    const large = await all(seal(pieces(plain), key, salt));
    assert.equal(
      createHash("sha256").update(large).digest("hex"),
      "d83efa7a6a949d189b1535e689a8ee729e30933241f969dff744f52ef0043447",
    );
  });

  test("can be read by its table", async () => {
    for (const length of [0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 3 * chunkBytes]) {
      const plain = randomBytes(length);
      assert.deepEqual(await readByTheTable(await sealed(plain)), plain);
    }
  });

  test("gives back what was put in, in whatever pieces it comes, and has the length that was foretold", () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.nat(100), fc.nat(3 * chunkBytes), fc.constantFrom(chunkBytes, 2 * chunkBytes)),
        fc.integer({ min: 1000, max: 300_000 }),
        fc.integer({ min: 1000, max: 300_000 }),
        async (length, inPieces, outPieces) => {
          const plain = randomBytes(length);
          const object = await sealed(plain, inPieces);
          assert.equal(object.length, sealedBytes(length, key.id));
          assert.ok((await opened(object, find, outPieces)).equals(plain));
        },
      ),
      { numRuns: 40 },
    ));

  test("is never the same twice, and names its key", async () => {
    const plain = randomBytes(100);
    const one = await sealed(plain);
    assert.ok(!one.equals(await sealed(plain)));
    assert.equal((await unseal(pieces(one), find)).keyId, key.id);
  });

  test("that was cut off anywhere is called truncated", async () => {
    const object = await sealed(randomBytes(2 * chunkBytes + 100));
    const header = object.length - (2 * (chunkBytes + 16) + 100 + 16 + 8);
    const cuts = [8, 9, 10, 20, header - 1, header, header + 1, header + chunkBytes + 16, object.length - 1];
    for (const length of cuts) await refusedAs(object.subarray(0, length), "truncated");
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 8, max: object.length - 1 }), (length) =>
        refusedAs(object.subarray(0, length), "truncated"),
      ),
      { numRuns: 40 },
    );
    await refusedAs(Buffer.concat([object, Buffer.from("more")]), "truncated");
  });

  test("in which a bit was changed is never read", async () => {
    const object = await sealed(randomBytes(chunkBytes + 1000));
    const header = object.length - (chunkBytes + 16 + 1000 + 16 + 8);
    const flipped = (bit: number): Buffer => {
      const other = Buffer.from(object);
      other[bit >> 3]! ^= 1 << (bit & 7);
      return other;
    };
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 8 * header, max: 8 * (object.length - 8) - 1 }), (bit) =>
        refusedAs(flipped(bit), "tampered"),
      ),
      { numRuns: 60 },
    );
    for (let bit = 0; bit < 8 * header; bit += 1)
      await assert.rejects(opened(flipped(bit)), (error) => error instanceof SealError);
  });

  test("whose chunks were exchanged or left out is called tampered", async () => {
    const object = await sealed(randomBytes(3 * chunkBytes));
    const chunk = chunkBytes + 16;
    const start = object.length - 8 - 3 * chunk;
    const part = (n: number): Buffer => object.subarray(start + n * chunk, start + (n + 1) * chunk);
    const made = (...parts: Buffer[]): Buffer =>
      Buffer.concat([object.subarray(0, start), ...parts, object.subarray(-8)]);
    await refusedAs(made(part(1), part(0), part(2)), "tampered");
    await refusedAs(made(part(0), part(2)), "tampered");
    await refusedAs(made(part(0), part(1)), "tampered");
    await refusedAs(made(part(0), part(1), part(2), part(2)), "tampered");
    await refusedAs(made(), "tampered");
  });

  test("says which key is missing, and whether the one of that name is another", async () => {
    const object = await sealed(Buffer.from("etcd"));
    await assert.rejects(
      opened(object, async () => undefined),
      (error) => error instanceof SealError && error.code === "keyMissing" && error.message.includes("2026-11"),
    );
    await refusedAs(object, "wrongKey", async (id) => new SealKey(id, randomBytes(32)));
  });

  test("is told from other bytes, and from one of a later format", async () => {
    for (const other of ["", "short", "something that is not encrypted"])
      await refusedAs(Buffer.from(other), "notSealed");
    const later = await sealed(Buffer.from("etcd"));
    later[8] = 2;
    await refusedAs(later, "newerFormat");
  });

  test("lets its source go when it is given up", async () => {
    const object = await sealed(randomBytes(2 * chunkBytes));
    let released = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield* pieces(object);
      } finally {
        released += 1;
      }
    }
    const { plain } = await unseal(source(), find);
    for await (const _ of plain) break;
    await assert.rejects(unseal(source(), async () => undefined));
    assert.equal(released, 2);
  });
});
