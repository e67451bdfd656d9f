// The commands that are typed by a test are those that the documents mark, and no others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { blockThatBegins, scriptOf, shellBlocks } from "./shell-blocks.ts";

const fence = "```";
const page = [
  "# Title",
  `${fence}sh`,
  "make demo",
  fence,
  `${fence}sh run`,
  "kubectl get pods",
  "kubectl get nodes",
  fence,
  `${fence}yaml`,
  "kind: Pod",
  fence,
  `${fence}sh run`,
  "true",
  fence,
].join("\n");

test("blocks of commands are found with the line where they begin, and whether they are marked", () => {
  assert.deepEqual(shellBlocks(page), [
    { line: 3, script: "make demo", isRun: false },
    { line: 6, script: "kubectl get pods\nkubectl get nodes", isRun: true },
    { line: 13, script: "true", isRun: true },
  ]);
});

test("a block inside of a list is found without its indentation", () => {
  assert.deepEqual(shellBlocks(`- so:\n\n  ${fence}sh\n  true\n  ${fence}\n`), [
    { line: 4, script: "true", isRun: false },
  ]);
});

test("a mark inside of another block is that block's text", () => {
  assert.deepEqual(shellBlocks(`${fence}md\n${fence}sh run\ntrue\n${fence}\n`), []);
});

test("a block without an end is a mistake that is reported with its line", () => {
  assert.throws(() => shellBlocks(`${fence}sh run\ntrue\n`), /line 2 has no end/);
});

test("the script says where each block stands and stops at the first failure", () => {
  assert.equal(
    scriptOf("README.md", `${fence}sh run\nfalse\n${fence}\n`),
    "set -euo pipefail\necho '# README.md:2' >&2\nfalse",
  );
});

test("one block is found by its first line, and none that is missing or ambiguous", () => {
  assert.equal(blockThatBegins(page, "kubectl get pods"), "kubectl get pods\nkubectl get nodes");
  assert.throws(() => blockThatBegins(page, "kubectl get nodes"), /0 blocks begin with/);
  assert.throws(() => blockThatBegins(`${page}\n${page}`, "true"), /2 blocks begin with/);
});
