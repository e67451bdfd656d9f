// A body that is left before its end is given back, so that what it holds, as a file or a connection, is closed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { untilAborted } from "./until-aborted.ts";

/** Gives its pieces, then fails or is silent for ever, and counts how often it is given back. */
function body(pieces: readonly string[], then: "ends" | "fails" | "isSilent") {
  const left = [...pieces];
  const seen = { returned: 0 };
  const iterator: AsyncIterator<string> = {
    next: () => {
      const value = left.shift();
      if (value !== undefined) return Promise.resolve({ done: false, value });
      if (then === "ends") return Promise.resolve({ done: true, value: undefined });
      return then === "fails" ? Promise.reject(new Error("broken")) : new Promise(() => undefined);
    },
    return: () => {
      seen.returned += 1;
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { seen, pieces: { [Symbol.asyncIterator]: () => iterator } };
}

const all = async (pieces: AsyncIterable<string>): Promise<string[]> => {
  const read: string[] = [];
  for await (const piece of pieces) read.push(piece);
  return read;
};

test("a body that ends, or fails by itself, is not given back", async () => {
  const { signal } = new AbortController();
  const whole = body(["a", "b"], "ends");
  assert.deepEqual(await all(untilAborted(whole.pieces, signal)), ["a", "b"]);
  const broken = body(["a"], "fails");
  await assert.rejects(all(untilAborted(broken.pieces, signal)), /broken/);
  assert.deepEqual([whole.seen.returned, broken.seen.returned], [0, 0]);
});

test("a body that its reader leaves is given back", async () => {
  const { seen, pieces } = body(["a", "b"], "ends");
  for await (const piece of untilAborted(pieces, new AbortController().signal)) {
    assert.equal(piece, "a");
    break;
  }
  assert.equal(seen.returned, 1);
});

test("a silent body is left when the signal aborts, and given back", async () => {
  const { seen, pieces } = body(["a"], "isSilent");
  const stop = new AbortController();
  const reading = all(untilAborted(pieces, stop.signal));
  setImmediate(() => stop.abort(new Error("enough")));
  await assert.rejects(reading, /enough/);
  assert.equal(seen.returned, 1);
});

test("nothing is read once the signal has aborted", async () => {
  const { pieces } = body(["a"], "ends");
  await assert.rejects(all(untilAborted(pieces, AbortSignal.abort(new Error("too late")))), /too late/);
});
