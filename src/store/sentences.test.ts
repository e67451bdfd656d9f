// The sentence of a StoreError: which store, what was tried, what is wrong, what to do, and the store's own words.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoreErrorCode } from "./errors.ts";
import { storeError, type Wording } from "./sentences.ts";

const permissions = { write: "w", read: "r", "look up": "r", list: "l", delete: "d", "clean up": "c" };
const wording: Wording = { place: "bucket", permissions };
const tried = { store: "s3://b", to: "write", key: "a" } as const;

test("every code has its sentence, with what to do", () => {
  const said: Readonly<Record<StoreErrorCode, RegExp>> = {
    noBucket: /the bucket does not exist\. Create the bucket/,
    badCredentials: /not accepted\. Correct the Secret/,
    forbidden: /do not allow it\. Grant w\./,
    unavailable: /does not answer as it should\. It is worth trying again/,
    full: /no space left\. Make room in the bucket/,
    exists: /under this key already\. Choose another path/,
    locked: /by its retention or a legal hold\. Wait .* policy of the bucket/,
    refused: /refuses the request\. Correct the setting/,
  };
  for (const [code, words] of Object.entries(said)) {
    const error = storeError(tried, wording, { code: code as StoreErrorCode, said: "" });
    assert.deepEqual([error.code, error.name], [code, "StoreError"]);
    assert.match(error.message, words);
    assert.ok(error.message.startsWith('s3://b: cannot write "a": ') && error.message.endsWith("."), error.message);
  }
});

test("the store's own words come last, in one line, and not all of them; what is known better takes their place", () => {
  const { message } = storeError({ store: "s3://b", to: "list" }, wording, {
    code: "refused",
    said: ` a\n  b. `,
    what: "it is odd",
    advice: "Look",
  });
  assert.equal(message, "s3://b: cannot list: it is odd. Look. It says: a b.");
  const long = storeError(tried, wording, { code: "refused", said: "x".repeat(1000) });
  assert.ok(long.message.length < 500, long.message);
});
