import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "./until.ts";

test("what is not a text ends the wait", async () => {
  const answers: (string | { n: number })[] = ["not yet", "almost", { n: 3 }, { n: 4 }];
  const read = async (): Promise<string | { n: number }> => answers.shift() ?? "too far";
  assert.deepEqual(await until("three", read, new AbortController().signal), { n: 3 });
});

test("an interruption ends it with its own reason", async () => {
  const interrupted = new AbortController();
  const reason = new Error("Ctrl-C");
  const read = async (): Promise<string> => {
    interrupted.abort(reason);
    return "not yet";
  };
  await assert.rejects(until("never", read, interrupted.signal), reason);
});
