import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type BackupFacts, longestResult, type Result } from "../job.ts";
import { resultText } from "./result.ts";
import { failureOf } from "./failure.ts";

test("a result of any sentence is whole JSON of a bounded length, and says as much as fits", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 9000, unit: "grapheme" }), (message) => {
      const result: Result = { ok: false, code: "store", message };
      const text = resultText(result);
      assert.ok(Buffer.byteLength(text) <= longestResult);
      const read: unknown = JSON.parse(text);
      if (Buffer.byteLength(JSON.stringify(result)) <= longestResult) assert.deepEqual(read, result);
      else assert.ok(Buffer.byteLength(text) > longestResult / 2);
    }),
    { examples: [["\u0000".repeat(9000)], ["€".repeat(9000)], ["x".repeat(9000)]] },
  );
});

test("a failure shows no secret that an error carries", () => {
  const said = failureOf(new Error("GET https://user:hunter2@host/ failed with Bearer abc.def.ghi"));
  assert.equal(said.code, "failed");
  for (const secret of ["hunter2", "abc.def"]) assert.ok(!said.message.includes(secret));
});

const facts: BackupFacts = {
  key: "k".repeat(1024),
  bytes: 1,
  sha256: "00",
  snapshotBytes: 1,
  takenAt: "2026-11-17T10:00:00.000Z",
  revision: 1,
  exactRevision: true,
  etcdVersion: "3.6.16",
  clusterId: "c",
  members: 3,
};

test("a backup that is made is reported, however long the names are of those that hold it up", () => {
  const done = { do: "backup", backup: facts, durationMs: 1, deleted: 0, count: 1 } as const;
  for (const sentences of [
    { held: "h".repeat(9000) },
    { kept: "k".repeat(9000) },
    { held: "h".repeat(9000), kept: "k" },
  ]) {
    const text = resultText({ ok: true, did: { ...done, ...sentences } });
    assert.ok(Buffer.byteLength(text) <= longestResult);
    const read = JSON.parse(text) as Result;
    assert.ok(read.ok && read.did.do === "backup", text);
    assert.deepEqual(read.did.backup, facts);
    const { held = "", kept = "" } = read.did;
    for (const [is, was = ""] of [
      [held, sentences.held],
      [kept, sentences.kept],
    ] as const)
      assert.ok(was.startsWith(is.replace(/…$/, "")) && (was === "") === (is === ""), text);
  }
});

test("what others wrote beside a backup cannot keep a worker from its result", () => {
  const backup = { ...facts, etcdVersion: "v".repeat(60_000) };
  const read = JSON.parse(resultText({ ok: true, did: { do: "check", backup } })) as Result;
  assert.ok(!read.ok && read.code === "failed" && /too long/.test(read.message), JSON.stringify(read));
});
