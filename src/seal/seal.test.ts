import assert from "node:assert/strict";
import { createCipheriv, createHash, hkdfSync, randomBytes, webcrypto } from "node:crypto";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { SealError, type SealErrorCode } from "./errors.ts";
import { chunkBytes, isSealed, sealedBytes } from "./format.ts";
import { type FindKey, SealKey } from "./key.ts";
import { seal } from "./seal.ts";
import { readOf, type SealedOf } from "./sealed-of.ts";
import { type Accept, unseal } from "./unseal.ts";

const key = new SealKey(
  "2026-11",
  Buffer.from("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "hex"),
);
const salt = Buffer.alloc(32, 0xa5);
const of: SealedOf = {
  key: "etcd/backup_v7_2026-11-17-10:00:00",
  clusterId: "cdf818194e3a8c32",
  cluster: { namespace: "default", name: "example", uid: "0d9d5a0e" },
  revision: 7,
  takenAt: "2026-11-17T10:00:00.000Z",
};
/** "etcd" as the version before this one encrypted it, with the same key and salt. */
const formatOne = Buffer.from(
  "455443445345414c0107323032362d3131a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5001000001981be2513aafc14752e2154e4f516ab8d4359f8fb15f2e101d295de4c41455344435445",
  "hex",
);
const any: Accept = () => {};
const find: FindKey = async (id) => (id === key.id ? key : undefined);

async function* pieces(bytes: Uint8Array, size = 32 << 10): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const piece of stream) read.push(Uint8Array.from(piece));
  return Buffer.concat(read);
}

const sealed = (plain: Uint8Array, size?: number, as = of): Promise<Buffer> => all(seal(pieces(plain, size), key, as));
const opened = async (bytes: Uint8Array, keys = find, size?: number): Promise<Buffer> =>
  all((await unseal(pieces(bytes, size), keys, any)).plain);

const refusedAs = (bytes: Uint8Array, code: SealErrorCode, keys = find): Promise<void> =>
  assert.rejects(opened(bytes, keys), (error) => error instanceof SealError && error.code === code);

/** Reads by the table in format.ts alone, with other functions than ours. */
async function readByTheTable(bytes: Buffer): Promise<{ plain: Buffer; of: unknown }> {
  const { subtle } = webcrypto;
  const format = bytes[8]!;
  const idBytes = bytes[9]!;
  const ofBytes = format === 1 ? 0 : bytes.readUInt16BE(10);
  const idAt = format === 1 ? 10 : 12;
  const saltAt = idAt + idBytes + ofBytes;
  const header = bytes.subarray(0, saltAt + 32 + 4 + 8);
  const size = header.readUInt32BE(saltAt + 32);
  const ikm = await subtle.importKey("raw", Uint8Array.from(key.bytes), "HKDF", false, ["deriveKey", "deriveBits"]);
  const hkdf = (use: string) => ({
    name: "HKDF",
    hash: "SHA-256",
    salt: header.subarray(saltAt, saltAt + 32),
    info: Buffer.from(`etcd-operator seal ${format} ${use}`),
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
  const said = bytes.subarray(idAt + idBytes, saltAt).toString("utf8");
  return { plain: Buffer.concat(plain), of: format === 1 ? undefined : JSON.parse(said) };
}

const anyKey: FindKey = async (id) => new SealKey(id, key.bytes);

/** As another program may write it: "etcd" in one chunk, of which there may be larger or smaller ones. */
async function inChunksOf(size: number): Promise<Buffer> {
  const object = await all(seal(pieces(Buffer.from("etcd")), key, of, salt));
  const header = Buffer.from(object.subarray(0, object.length - (4 + 16 + 8)));
  header.writeUInt32BE(size, header.length - 12);
  const secret = Buffer.from(hkdfSync("sha256", key.bytes, salt, "etcd-operator seal 2 object key", 32));
  const cipher = createCipheriv("aes-256-gcm", secret, Buffer.from("000000000000000000000001", "hex")).setAAD(header);
  const chunk = Buffer.concat([cipher.update("etcd"), cipher.final(), cipher.getAuthTag()]);
  return Buffer.concat([header, chunk, object.subarray(-8)]);
}

describe("an encrypted object", () => {
  test("never changes its form: the same key, salt and bytes give the same object", async () => {
    const small = await all(seal(pieces(Buffer.from("etcd")), key, of, salt));
    assert.equal(
      small.toString("hex"),
      "455443445345414c020700c1323032362d31317b226b6579223a22657463642f6261636b75705f76375f323032362d31312d31372d31303a30303a3030222c22636c75737465724964223a2263646638313831393465336138633332222c22636c7573746572223a7b226e616d657370616365223a2264656661756c74222c226e616d65223a226578616d706c65222c22756964223a223064396435613065227d2c227265766973696f6e223a372c2274616b656e4174223a22323032362d31312d31375431303a30303a30302e3030305a227da5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a500100000f118d06587bca3e070b90fda87ab09f49a8c9f0d054d64e7e3fd591a4c41455344435445",
    );
    const plain = Buffer.alloc(2 * chunkBytes + 7, "etcd");
    const large = await all(seal(pieces(plain), key, of, salt));
    assert.equal(
      createHash("sha256").update(large).digest("hex"),
      "e7f09ef826051cdc0e06fd5e476c7fd4eb4ec63cc61fa06fb3c244bde3715730",
    );
  });

  test("can be read by its table", async () => {
    for (const length of [0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 3 * chunkBytes]) {
      const plain = randomBytes(length);
      assert.deepEqual(await readByTheTable(await sealed(plain)), { plain, of });
    }
    assert.deepEqual(await readByTheTable(formatOne), { plain: Buffer.from("etcd"), of: undefined });
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
          assert.equal(object.length, sealedBytes(length, key.id, of));
          assert.ok(object.length < sealedBytes(length, key.id));
          assert.ok((await opened(object, find, outPieces)).equals(plain));
        },
      ),
      { numRuns: 40 },
    ));

  test("comes in pieces that hold something, encrypted and decrypted", async () => {
    for (const length of [0, 1, 64 << 10, chunkBytes]) {
      const object: Uint8Array[] = [];
      for await (const piece of seal(pieces(randomBytes(length)), key, of)) object.push(piece);
      const plain: Uint8Array[] = [];
      for await (const piece of (await unseal(pieces(Buffer.concat(object)), find, any)).plain) plain.push(piece);
      assert.ok([...object, ...plain].every((piece) => piece.length > 0));
    }
  });

  test("may have chunks of 1 KiB to 16 MiB", async () => {
    for (const size of [1 << 10, 1 << 24])
      assert.equal((await opened(await inChunksOf(size))).toString(), "etcd", String(size));
    for (const size of [0, (1 << 10) - 1, (1 << 24) + 1])
      await assert.rejects(opened(await inChunksOf(size)), /its size of chunks is impossible/);
  });

  test("names its key in 1 to 255 bytes", async () => {
    for (const id of ["k", "k".repeat(255)])
      assert.equal((await unseal(seal(pieces(salt), new SealKey(id, key.bytes), of), anyKey, any)).keyId, id);
    for (const id of ["", "k".repeat(256)])
      await assert.rejects(
        all(seal(pieces(salt), new SealKey(id, key.bytes), of)),
        (error) => error instanceof SealError && error.code === "badKey",
      );
  });

  test("is never the same twice, and names its key", async () => {
    const plain = randomBytes(100);
    const one = await sealed(plain);
    assert.ok(!one.equals(await sealed(plain)));
    assert.equal((await unseal(pieces(one), find, any)).keyId, key.id);
  });

  test("that was cut off anywhere is called truncated", async () => {
    const object = await sealed(randomBytes(2 * chunkBytes + 100));
    const header = object.length - (2 * (chunkBytes + 16) + 100 + 16 + 8);
    const cuts = [8, 9, 10, 11, 12, 20, header - 1, header, header + 1, header + chunkBytes + 16, object.length - 1];
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
    const flipped = (bit: number, of = object): Buffer => {
      const other = Buffer.from(of);
      other[bit >> 3]! ^= 1 << (bit & 7);
      return other;
    };
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 8 * header, max: 8 * (object.length - 8) - 1 }), (bit) =>
        refusedAs(flipped(bit), "tampered"),
      ),
      { numRuns: 60 },
    );
    const small = await sealed(Buffer.from("etcd"));
    for (let bit = 0; bit < 8 * header; bit += 1)
      await assert.rejects(opened(flipped(bit, small)), (error) => error instanceof SealError);
  });

  test("whose chunks were swapped or left out is called tampered", async () => {
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

  test("is distinguished from other bytes, and from one of a later format", async () => {
    for (const other of ["", "short", "something that is not encrypted"])
      await refusedAs(Buffer.from(other), "notSealed");
    assert.equal(isSealed(formatOne.subarray(0, 7)), false);
    const later = await sealed(Buffer.from("etcd"));
    later[8] = 3;
    await refusedAs(later, "newerFormat");
    await assert.rejects(opened(later), {
      name: "SealError",
      message: /in format 3, and this version reads formats up to 2/,
    });
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
    const { plain } = await unseal(source(), find, any);
    for await (const _ of plain) break;
    await assert.rejects(unseal(source(), async () => undefined, any));
    await assert.rejects(unseal(source(), find, refuse), /refused/);
    assert.equal(released, 3);
  });
});

const refuse: Accept = () => {
  throw new Error("refused");
};

/** Whatever may be said of an object. */
const anyOf: fc.Arbitrary<SealedOf> = fc.record(
  {
    key: fc.string({ unit: "grapheme", maxLength: 300 }),
    clusterId: fc.string(),
    cluster: fc.record({ namespace: fc.string(), name: fc.string(), uid: fc.string() }),
    revision: fc.maxSafeNat(),
    takenAt: fc.string(),
    snapshotAt: fc.string(),
  },
  { requiredKeys: ["key"] },
);

describe("what an object is a copy of", () => {
  test("is read as it was written, and is authentic before anything of the object is given out", () =>
    fc.assert(
      fc.asyncProperty(anyOf, fc.constantFrom(0, 10, chunkBytes + 1), async (written, length) => {
        const object = await sealed(randomBytes(length), undefined, written);
        let read: SealedOf | undefined;
        await unseal(pieces(object), find, (said) => void (read = said));
        assert.deepEqual(read, JSON.parse(JSON.stringify(written)));
        assert.equal(object.length, sealedBytes(length, key.id, written));
      }),
      { numRuns: 60 },
    ));

  test("is all that is written of what the caller has", async () => {
    const more = { ...of, secret: "x", cluster: { ...of.cluster!, secret: "x" } };
    assert.deepEqual((await readByTheTable(await sealed(Buffer.from("etcd"), 10, more))).of, of);
  });

  test("cannot be swapped for that of another object", () =>
    fc.assert(
      fc.asyncProperty(anyOf, anyOf, async (written, wanted) => {
        fc.pre(JSON.stringify(written) !== JSON.stringify(wanted));
        const [one, other] = await Promise.all(
          [written, wanted].map((as) => all(seal(pieces(Buffer.from("etcd")), key, as, salt))),
        );
        const header = (object: Buffer): number => object.length - (4 + 16 + 8);
        const made = Buffer.concat([other!.subarray(0, header(other!)), one!.subarray(header(one!))]);
        const said: unknown[] = [];
        await assert.rejects(
          unseal(pieces(made), find, (as) => void said.push(as)),
          (error) => error instanceof SealError && error.code === "tampered",
        );
        assert.deepEqual(said, []);
      }),
      { numRuns: 60 },
    ));

  test("is missing in objects of format 1, which stay readable and cannot be made of others", async () => {
    let read: SealedOf | undefined = of;
    const { plain } = await unseal(pieces(formatOne), find, (said) => void (read = said));
    assert.equal((await all(plain)).toString(), "etcd");
    assert.equal(read, undefined);
    // The header of format 1 before the chunk of format 2, and the other way round.
    const two = await all(seal(pieces(Buffer.from("etcd")), key, of, salt));
    const start = (object: Buffer): number => object.length - (4 + 16 + 8);
    for (const [head, tail] of [
      [formatOne, two],
      [two, formatOne],
    ] as const)
      await refusedAs(Buffer.concat([head.subarray(0, start(head)), tail.subarray(start(tail))]), "tampered");
    for (let bit = 0; bit < 8 * start(formatOne); bit += 1) {
      const other = Buffer.from(formatOne);
      other[bit >> 3]! ^= 1 << (bit & 7);
      await assert.rejects(opened(other), (error) => error instanceof SealError);
    }
  });

  test("that cannot be read is a damaged header", async () => {
    const object = await all(seal(pieces(Buffer.from("etcd")), key, { key: "a" }, salt));
    const at = object.indexOf('{"key":"a"}');
    for (const text of ['{"key": 1 }', '{"kez":"a"}', "null       ", '"key":"a"  ', '{"key":"\xff"}']) {
      const other = Buffer.from(object);
      other.write(text.padEnd(11).slice(0, 11), at, "latin1");
      await refusedAs(other, "tampered");
    }
  });

  test("is refused before it is written when it is too long", () =>
    assert.rejects(sealed(Buffer.from("etcd"), 10, { key: "k".repeat(0x10000) }), RangeError));
});

test("what an object is a copy of has its form, and later versions may add to it", () => {
  const read = (value: unknown): SealedOf | undefined => readOf(Buffer.from(JSON.stringify(value)));
  for (const good of [of, { key: "" }, { ...of, later: true }]) assert.deepEqual(read(good), good);
  for (const bad of [
    null,
    "key",
    {},
    { ...of, key: 1 },
    { ...of, clusterId: 1 },
    { ...of, cluster: null },
    { ...of, cluster: "example" },
    { ...of, cluster: { ...of.cluster, namespace: 1 } },
    { ...of, cluster: { ...of.cluster, name: undefined } },
    { ...of, cluster: { ...of.cluster, uid: 1 } },
    { ...of, revision: "7" },
    { ...of, takenAt: 7 },
  ])
    assert.equal(read(bad), undefined, JSON.stringify(bad));
  assert.equal(readOf(Buffer.from('{"key":"\xff"}', "latin1")), undefined);
});
