import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import { bodyOf } from "./body.ts";

const KiB = 1024;
const same = (error: unknown): unknown => error;

function chunks(count: number, bytes: number): Buffer[] {
  return Array.from({ length: count }, (_, n) => Buffer.alloc(bytes, n));
}

test("many small chunks come as few large pieces, with every byte in its place", async () => {
  const given = chunks(100, 16 * KiB);
  const pieces: Uint8Array[] = [];
  for await (const piece of bodyOf(Readable.from(given), same, undefined)) pieces.push(piece);
  assert.deepEqual(Buffer.concat(pieces), Buffer.concat(given));
  assert.ok(pieces.length < 10, `${pieces.length} pieces`);
  for await (const _ of bodyOf(Readable.from([]), same, undefined)) assert.fail("nothing was given");
});

test("a piece is the receiver's: what comes later does not change it", async () => {
  const body = bodyOf(Readable.from(chunks(64, 16 * KiB)), same, undefined)[Symbol.asyncIterator]();
  const { value } = await body.next();
  const copy = Uint8Array.from(value as Uint8Array);
  await body.next();
  assert.deepEqual(Uint8Array.from(value as Uint8Array), copy);
  await body.return?.();
});

test("a reader that is busy holds its source back", async () => {
  let made = 0;
  const source = Readable.from(
    (async function* () {
      for (; made < 10_000; made += 1) yield Buffer.alloc(16 * KiB);
    })(),
  );
  const body = bodyOf(source, same, undefined)[Symbol.asyncIterator]();
  await body.next();
  let last = -1;
  while (made !== last) {
    last = made;
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(made < 200, `${made} chunks were made for a reader that took one piece`);
  await body.return?.();
  assert.ok(source.destroyed);
});

test("a body that breaks off is an error, explained, and never an end", async () => {
  const cut = new PassThrough();
  cut.write(Buffer.alloc(10));
  const reading = (async () => {
    for await (const _ of bodyOf(cut, (error) => new Error("explained", { cause: error }), undefined));
  })();
  setImmediate(() => cut.destroy());
  await assert.rejects(reading, /explained/);
});

test("the signal ends it, with its own reason", async () => {
  const stop = new AbortController();
  const silent = new PassThrough();
  const body = bodyOf(silent, () => new Error("explained"), stop.signal)[Symbol.asyncIterator]();
  const next = body.next();
  stop.abort(new Error("enough"));
  await assert.rejects(next, /enough/);
  if (!silent.closed) await once(silent, "close");
});
