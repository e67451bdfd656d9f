import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { type AuditField, countRequests, table } from "./audit.ts";
import { type AuditEntry, linesBetween, markText, parseEntry, parseMark } from "./audit-log.ts";

const entry = (over: Partial<AuditEntry>): AuditEntry => ({
  ...parseEntry(
    JSON.stringify({
      auditID: "1",
      stage: "ResponseComplete",
      stageTimestamp: "2026-01-01T00:00:00Z",
      requestReceivedTimestamp: "2026-01-01T00:00:00Z",
      user: { username: "operator" },
      verb: "get",
      requestURI: "/api/v1/pods",
      objectRef: { resource: "pods", namespace: "default" },
      responseStatus: { code: 200 },
    }),
  ),
  ...over,
});

async function lines(text: string, start: number, end = Number.POSITIVE_INFINITY): Promise<string[]> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "audit-"));
  try {
    const file = path.join(folder, "audit.log");
    fs.writeFileSync(file, text);
    const found: string[] = [];
    for await (const line of linesBetween(file, start, end)) found.push(line);
    return found;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

test("a line belongs to the span in which it begins, and one without its newline does not count yet", async () => {
  const text = "aa\nbb\ncc\nd";
  for (const { start, end, expected } of [
    { start: 0, end: Number.POSITIVE_INFINITY, expected: ["aa", "bb", "cc"] },
    { start: 3, end: Number.POSITIVE_INFINITY, expected: ["bb", "cc"] },
    { start: 4, end: Number.POSITIVE_INFINITY, expected: ["cc"] },
    { start: 0, end: 3, expected: ["aa"] },
    { start: 0, end: 4, expected: ["aa", "bb"] },
    { start: 3, end: 3, expected: [] },
    { start: 10, end: Number.POSITIVE_INFINITY, expected: [] },
  ])
    assert.deepEqual(await lines(text, start, end), expected, `from ${start} to ${end}`);
});

test("lines longer than a read chunk come out whole", async () => {
  const long = ["x".repeat(200_000), "é".repeat(70_000), "y"];
  assert.deepEqual(await lines(`${long.join("\n")}\n`, 0), long);
});

test("adjacent spans cover every line exactly once", async () => {
  const text = `${Array.from({ length: 50 }, (_, i) => "z".repeat(i % 7)).join("\n")}\n`;
  const all = await lines(text, 0);
  for (let cut = 0; cut <= text.length; cut += 1)
    assert.deepEqual([...(await lines(text, 0, cut)), ...(await lines(text, cut))], all, `cut at ${cut}`);
});

test("a request is counted once, however many of its stages were logged", () => {
  const stages = ["RequestReceived", "ResponseComplete"].map((stage) => entry({ id: "a", stage }));
  assert.deepEqual(countRequests([...stages, entry({ id: "b" })], ["verb"]), [{ of: ["get"], count: 2 }]);
});

test("a watch is counted where it starts and not where it ends", () => {
  const watch = (id: string, stage: string): AuditEntry => entry({ id, stage, verb: "watch" });
  const entries = [watch("old", "ResponseComplete"), watch("new", "ResponseStarted"), watch("new", "ResponseComplete")];
  assert.deepEqual(countRequests(entries, ["verb"]), [{ of: ["watch"], count: 1 }]);
});

test("requests are counted by the chosen fields, the most frequent first", () => {
  const by: AuditField[] = ["user", "code"];
  const counts = countRequests(
    [entry({ id: "a", code: 409 }), entry({ id: "b" }), entry({ id: "c" }), entry({ id: "d", user: "admin" })],
    by,
  );
  assert.deepEqual(counts, [
    { of: ["operator", "200"], count: 2 },
    { of: ["admin", "200"], count: 1 },
    { of: ["operator", "409"], count: 1 },
  ]);
  assert.equal(table(counts, by).split("\n").at(-1), "4 in all");
});

test("a mark can be printed and parsed", () => {
  const mark = { inode: 12, offset: 345, time: "2026-01-01T00:00:00.000Z" };
  assert.deepEqual(parseMark(markText(mark)), mark);
  assert.throws(() => parseMark("yesterday"), { message: /is not a mark/ });
});
