// The files that are made from the schema are up to date.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { it } from "node:test";
import { generatedFiles } from "./files.ts";

const root = path.resolve(import.meta.dirname, "../../..");

for (const file of generatedFiles())
  it(`${file.path} says what the schema says (else run: node src/api/generate.ts)`, async () => {
    assert.equal(await readFile(path.join(root, file.path), "utf8"), file.text);
  });
