import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { together } from "./together.ts";

const forever = new AbortController().signal;

test("results come in the order of the tasks", async () => {
  const late = new Promise<number>((resolve) => setImmediate(() => resolve(1)));
  assert.deepEqual(await together(forever, [() => late, async () => 2]), [1, 2]);
});

test("the first failure stops the others, and is thrown only when all have ended", async () => {
  const ended: string[] = [];
  const waits = async (signal: AbortSignal): Promise<void> => {
    await once(signal, "abort");
    await new Promise((resolve) => setImmediate(resolve));
    ended.push("the other");
  };
  await assert.rejects(
    together(forever, [waits, () => Promise.reject(new Error("broken"))]),
    (error) => error instanceof Error && error.message === "broken" && ended.length === 1,
  );
});

test("an abort from outside reaches every task and is what the caller sees", async () => {
  const outside = new AbortController();
  const waits = async (signal: AbortSignal): Promise<void> => {
    await once(signal, "abort");
    throw new Error("gave up");
  };
  const all = together(outside.signal, [waits, waits]);
  outside.abort(new Error("interrupted"));
  await assert.rejects(all, { message: "interrupted" });
});
