// The pages that are made from code say what the code says: a new message, flag or condition has to be in them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { generatedPages } from "./files.ts";
import { messagesIn, sectionOf } from "./messages.ts";
import { figuresIn } from "./recovery-times.ts";

const root = path.resolve(import.meta.dirname, "../..");

for (const page of generatedPages)
  test(`${page.path} is up to date (else run: node docs/generate.ts)`, () => {
    assert.equal(readFileSync(path.join(root, page.path), "utf8"), page.render());
  });

test("whole sentences are messages, parts of them and names are not", () => {
  const source =
    'throw new Error(`Pod ${name} cannot start (${why}). Correct it.`); const x = "a part of it"; say("Done.");';
  assert.deepEqual(messagesIn(source), ["Pod … cannot start (…). Correct it."]);
});

test("a source file that nobody assigned is a mistake that is told", () => {
  assert.throws(() => sectionOf("news/news.ts"), /name it in docs\/generate\/messages.ts/);
  assert.equal(sectionOf("api/events.ts"), undefined);
  assert.equal(sectionOf("store/sentences.ts")?.title, "Stores and encryption");
});

test("a figure is in seconds, as exact as it is worth", () => {
  const page =
    "| a | s | 10 | 3.15 | 3.7 | pods | 1.63 | 1.9 | 1.93× | ≤ 2× ✓ |\n| b | ms | 5 | 35.1 | 106 | pods | 12.3 | 14 | 2× |  |\n";
  assert.deepEqual(
    [...figuresIn(page)],
    [
      ["a", { ours: "3.1 s", floor: "1.6 s", ratio: "1.93×" }],
      ["b", { ours: "0.04 s", floor: "0.01 s", ratio: "2×" }],
    ],
  );
});
