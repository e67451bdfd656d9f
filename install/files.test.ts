// The files that are made from install/ are up to date.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { it } from "node:test";
import { generatedFiles } from "./files.ts";

const root = path.resolve(import.meta.dirname, "..");

for (const file of generatedFiles())
  it(`${file.path} is up to date (else run: node install/generate.ts)`, async () => {
    const current = await readFile(path.join(root, file.path), "utf8");
    assert.equal(current, file.render(current));
  });
