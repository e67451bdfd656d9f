import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { inspect } from "node:util";
import { test } from "node:test";
import { SealError, type SealErrorCode } from "./errors.ts";
import { chooseKey, keysIn, parseKey } from "./key.ts";

const isSealError = (code: SealErrorCode) => (error: unknown) => error instanceof SealError && error.code === code;

test("a key is 32 bytes, raw or as base64 or hex, with or without a newline", () => {
  const bytes = randomBytes(32);
  for (const content of [
    bytes,
    Buffer.from(bytes.toString("hex")),
    Buffer.from(`${bytes.toString("hex").toUpperCase()}\n`),
    Buffer.from(`${bytes.toString("base64")}\n`),
    Buffer.from(bytes.toString("base64url")),
  ])
    assert.deepEqual(Buffer.from(parseKey("k", content).bytes), bytes);
});

test("what is not a key is refused with a sentence that shows nothing of it", () => {
  for (const text of ["", "short", "x".repeat(33), "ab".repeat(31), randomBytes(16).toString("base64")])
    assert.throws(
      () => parseKey("k", Buffer.from(text)),
      (error) => isSealError("badKey")(error) && !(text !== "" && String(error).includes(text)),
    );
});

test("a key shows nothing of itself when it is printed", () => {
  const bytes = Buffer.from("0123456789abcdef0123456789abcdef");
  const key = parseKey("k", bytes);
  for (const shown of [inspect(key), JSON.stringify(key)]) assert.ok(!shown.includes("0123"));
});

test("the key to encrypt with is the one that is named, or the last by name", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "keys-"));
  try {
    await assert.rejects(chooseKey(folder, undefined), isSealError("keyMissing"));
    const keys = { "2025": randomBytes(32), "2026": randomBytes(32) };
    for (const [name, bytes] of Object.entries(keys)) await writeFile(path.join(folder, name), bytes);
    await mkdir(path.join(folder, "..data"));
    assert.equal((await chooseKey(folder, undefined)).id, "2026");
    assert.deepEqual(Buffer.from((await chooseKey(folder, "2025")).bytes), keys["2025"]);
    await assert.rejects(
      chooseKey(folder, "2024"),
      (error) => isSealError("keyMissing")(error) && String(error).includes("2025, 2026"),
    );
    const find = keysIn(folder);
    assert.equal((await find("2025"))?.id, "2025");
    for (const id of ["2024", "../keys/2025", "..data"]) assert.equal(await find(id), undefined);
  } finally {
    await rm(folder, { recursive: true });
  }
});
