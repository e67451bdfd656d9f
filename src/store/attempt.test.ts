import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreAttempt, type Refusals } from "./attempt.ts";
import { StoreError } from "./errors.ts";
import { fails } from "./testing/contract.ts";

const refusals: Refusals = {
  wording: {
    place: "bucket",
    permissions: { write: "w", read: "r", "look up": "r", list: "l", delete: "d", "clean up": "c" },
  },
  finding: ({ message }, to) => (message === "denied" ? { code: "forbidden", said: `${message} to ${to}` } : undefined),
};

const attempt = (signal?: AbortSignal): StoreAttempt =>
  new StoreAttempt({ store: "s3://b", to: "write", key: "k" }, refusals, signal);

test("an error of the store becomes its sentence; a sentence, and what is no error of the store, stay as they are", async () => {
  const sentence = new StoreError("full", "full");
  const other = new Error("other");
  for (const error of [sentence, other])
    await assert.rejects(
      attempt().run(() => Promise.reject(error)),
      (thrown) => thrown === error,
    );
  const { message } = await fails(
    attempt().run(() => Promise.reject(new Error("denied"))),
    "forbidden",
  );
  assert.equal(
    message,
    's3://b: cannot write "k": the credentials do not allow it. Grant w. It says: denied to write.',
  );
  assert.match(attempt().failure("exists").message, /an object under this key already/);
});

test("nothing begins after an abort, and what fails after one fails because of it", async () => {
  const reason = new Error("enough");
  const stop = new AbortController();
  let begun = 0;
  const work = async (): Promise<void> => {
    begun += 1;
    stop.abort(reason);
    throw new Error("denied");
  };
  for (let time = 0; time < 2; time += 1)
    await assert.rejects(attempt(stop.signal).run(work), (thrown) => thrown === reason);
  assert.equal(begun, 1);
});
