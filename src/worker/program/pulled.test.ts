import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "../../kube/testing/simulated-clock.ts";
import { type Push, pulled } from "./pulled.ts";

const chunk = (n: number): Uint8Array => Uint8Array.of(n);

test("every chunk comes once, in order, and the next is made only when it is asked for", async () => {
  let made = 0;
  const stream = pulled(async (push) => {
    for (; made < 3; ) await push(chunk((made += 1)));
  });
  for (const n of [1, 2, 3]) {
    assert.deepEqual((await stream.next()).value, chunk(n));
    await settle();
    assert.equal(made, n);
  }
  assert.equal((await stream.next()).done, true);
});

test("an error of the source is the reader's, also while a chunk waits", async () => {
  const lost = new Error("lost");
  const early = pulled(() => Promise.reject(lost));
  await assert.rejects(early.next(), lost);
  const late = pulled(async (push) => {
    void push(chunk(1)).catch(() => {});
    throw lost;
  });
  assert.deepEqual((await late.next()).value, chunk(1));
  await assert.rejects(late.next(), lost);
});

test("a source whose reader gave up is told at its chunk", async () => {
  let told: unknown;
  const stream = pulled(async (push: Push) => {
    await push(chunk(1)).catch((error: unknown) => {
      told = error;
      throw error;
    });
  });
  await stream.next();
  await stream.return(undefined);
  assert.match(String(told), /nobody reads/);
});
