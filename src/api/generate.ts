// Writes the files that are made from the schema: `node src/api/generate.ts`.
import { mkdirSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { generatedFiles } from "./generate/files.ts";

const root = path.resolve(import.meta.dirname, "../..");

for (const file of generatedFiles()) {
  const target = path.join(root, file.path);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, file.text);
}
