import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Blocks } from "./blocks.ts";

const pieces = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 });

test("pieces of any size come out joined and in order, in blocks of one size but the last", async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.integer({ min: 1, max: 16 }), fc.boolean(), async (given, size, later) => {
      const blocks: Buffer[] = [];
      const joined = new Blocks((block) => {
        blocks.push(Buffer.from(block));
        return later ? Promise.resolve() : undefined;
      }, size);
      for (const piece of given) await joined.add(piece);
      await joined.flush();
      assert.deepEqual(Buffer.concat(blocks), Buffer.concat(given));
      for (const block of blocks.slice(0, -1)) assert.equal(block.length, size);
    }),
  );
});

test("a block is not written over while its receiver is busy with it", async () => {
  const busy = Promise.withResolvers<void>();
  const seen: Uint8Array[] = [];
  const joined = new Blocks((block) => {
    seen.push(block);
    return seen.length === 1 ? busy.promise : undefined;
  }, 2);
  const added = joined.add(Buffer.from("abcd"));
  assert.equal(Buffer.from(seen[0] ?? []).toString(), "ab");
  busy.resolve();
  await added;
  assert.equal(seen.length, 2);
  assert.equal(Buffer.from(seen[1] ?? []).toString(), "cd");
});
