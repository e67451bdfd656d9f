import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { partBytes, sendParts, type Part } from "./parts.ts";
import { StoreError } from "./errors.ts";

const MiB = 1024 * 1024;

/** Yields the same memory over and over, each time with other bytes in it. */
async function* reused(chunks: readonly number[]): AsyncGenerator<Uint8Array> {
  const memory = new Uint8Array(Math.max(...chunks, 1));
  for (const [at, size] of chunks.entries()) {
    memory.fill(at % 251);
    yield memory.subarray(0, size);
  }
}

async function hashOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of body) hash.update(chunk);
  return hash.digest("hex");
}

test("parts are of 8 MiB while that is enough, and all equal for what is expected", () => {
  assert.equal(partBytes(1), 8 * MiB);
  assert.equal(partBytes(9_000), 8 * MiB);
  assert.equal(partBytes(9_001), 16 * MiB);
  assert.equal(partBytes(10_000), 128 * MiB);
  const expected = 200 * 1024 * MiB;
  assert.ok(partBytes(1, expected) * 9_000 >= expected);
  assert.equal(partBytes(1, expected), partBytes(9_000, expected));
  assert.equal(partBytes(1, expected) % (256 * 1024), 0);
});

test("what is sent is what came, whatever the sizes of the chunks, while the producer reuses its memory", async () => {
  const tables: number[][] = [[], [0], [1], [8 * MiB], [8 * MiB, 1], [8 * MiB - 1, 2, 7], [17 * MiB + 3]];
  tables.push(Array.from({ length: 700 }, () => 32 * 1024));
  for (const chunks of tables) {
    const hash = createHash("sha256");
    const parts: Pick<Part, "number" | "offset" | "last">[] = [];
    let total = 0;
    const bytes = await sendParts(reused(chunks), async ({ bytes, ...part }) => {
      // The next part is filled meanwhile, in the other buffer.
      await new Promise(setImmediate);
      hash.update(bytes);
      assert.equal(part.offset, total);
      total += bytes.length;
      parts.push(part);
    });
    assert.equal(hash.digest("hex"), await hashOf(reused(chunks)));
    assert.equal(bytes, total);
    assert.deepEqual(
      parts.map(({ number }) => number),
      parts.map((_, at) => at + 1),
    );
    assert.deepEqual(
      parts.filter(({ last }) => last),
      [parts.at(-1)],
    );
  }
});

test("only two buffers are ever used", async () => {
  const seen = new Set<ArrayBufferLike>();
  await sendParts(reused(Array.from({ length: 40 }, () => MiB)), async ({ bytes }) => {
    seen.add(bytes.buffer);
  });
  assert.equal(seen.size, 2);
});

test("a part that cannot be sent ends the body at its next chunk", async () => {
  let produced = 0;
  let closed = false;
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      while (true) {
        produced += 1;
        yield new Uint8Array(MiB);
      }
    } finally {
      closed = true;
    }
  }
  await assert.rejects(
    sendParts(body(), async () => {
      throw new StoreError("full", "no space");
    }),
    { code: "full" },
  );
  assert.ok(closed);
  assert.ok(produced <= 18, `${produced} chunks were read`);
});

test("an error of the body is thrown, after the part that is being sent", async () => {
  let done = 0;
  async function* body(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(9 * MiB);
    throw new Error("etcd went away");
  }
  await assert.rejects(
    sendParts(body(), async () => {
      await new Promise(setImmediate);
      done += 1;
    }),
    /etcd went away/,
  );
  assert.equal(done, 1);
});

test("an abort ends it even while the body is silent", async () => {
  const stop = new AbortController();
  async function* body(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1);
    stop.abort(new Error("enough"));
    await new Promise<void>(() => undefined);
  }
  await assert.rejects(
    sendParts(body(), () => Promise.resolve(), { signal: stop.signal }),
    /enough/,
  );
});
