import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { describe, test } from "node:test";
import { commands, shownCommands } from "../commands.ts";
import { parseLine } from "../line/parse.ts";
import { manual } from "./manual.ts";

const root = path.resolve(import.meta.dirname, "../../..");

test("docs/kubectl-etcd.md is up to date (else run: node src/plugin/generate.ts)", async () => {
  assert.equal(await readFile(path.join(root, "docs/kubectl-etcd.md"), "utf8"), manual(shownCommands));
});

describe("every command", () => {
  for (const { name, what, examples, flags } of shownCommands)
    test(`${name} says what it does, and its examples can be typed`, () => {
      assert.match(what, /^[A-Z].*\.$/);
      assert.ok(examples.length > 0);
      for (const flag of flags) assert.match(flag.what, /\.$/, flag.name);
      for (const { line } of examples) {
        const [typed = ""] = line.split(" | ");
        const words = [...typed.matchAll(/'[^']*'|[^\s']+(?:'[^']*')?/g)].map(([word]) => word.replaceAll("'", ""));
        const parsed = parseLine(words, commands);
        assert.equal(parsed.t === "run" && parsed.command.name, name, line);
      }
    });
});
