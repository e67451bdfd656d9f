import assert from "node:assert/strict";
import { test } from "node:test";
import { parseResult, resultOf } from "./pod.ts";

const nasty = "S3 said:\n\u001B[2J\u009B1m\u202E";

test("what a worker says of others is taken in as one line without what a terminal obeys", () => {
  const result = { ok: false, code: "store", message: nasty } as const;
  assert.deepEqual(parseResult(JSON.stringify(result)), { ...result, message: "S3 said: �[2J�1m�" });
  const backup = { ok: true, did: { do: "backup", kept: nasty, held: nasty } };
  assert.deepEqual(parseResult(JSON.stringify(backup)), {
    ok: true,
    did: { do: "backup", kept: "S3 said: �[2J�1m�", held: "S3 said: �[2J�1m�" },
  });
});

test("so are the kubelet's words for a container that ended", () => {
  const state = { terminated: { exitCode: 1, reason: "\u001B[31mError" } };
  const result = resultOf({ status: { containerStatuses: [{ name: "worker", state }] } } as never);
  assert.match(result?.ok === false ? result.message : "", /exit code 1, �\[31mError/);
});
