// A request is repeated while nobody answers, and never when the answer was no.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../src/kube/client/errors.ts";
import { insist, insistOnMaking } from "./insist.ts";

const { signal } = new AbortController();

/** Fails with each of the errors in turn, and then works. */
function failing(...errors: Error[]): { send: () => Promise<number>; readonly sent: () => number } {
  let sent = 0;
  const send = async (): Promise<number> => {
    sent += 1;
    const error = errors[sent - 1];
    if (error !== undefined) throw error;
    return sent;
  };
  return { send, sent: () => sent };
}

const refusal = (code: number, reason: string): ApiError => new ApiError(code, reason, reason);

test("is repeated after silence and while the server is overwhelmed", async () => {
  const { send } = failing(new Error("no answer"), refusal(503, "ServiceUnavailable"), refusal(429, "TooManyRequests"));
  assert.equal(await insist(signal, send), 4);
});

test("is not repeated after a refusal", async () => {
  const { send, sent } = failing(refusal(422, "Invalid"));
  await assert.rejects(insist(signal, send), /Invalid/);
  assert.equal(sent(), 1);
});

test("ends with its signal", async () => {
  const { send, sent } = failing();
  await assert.rejects(insist(AbortSignal.abort(new Error("stopped")), send), /stopped/);
  assert.equal(sent(), 0);
});

test("a creation whose answer got lost is one", async () => {
  const { send, sent } = failing(new Error("no answer"), refusal(409, "AlreadyExists"));
  await insistOnMaking(signal, send);
  assert.equal(sent(), 2);
});
