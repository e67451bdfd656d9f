// Writes the files that are made from install/: `node install/generate.ts`.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { generatedFiles } from "./files.ts";

const root = path.resolve(import.meta.dirname, "..");

for (const file of generatedFiles()) {
  const target = path.join(root, file.path);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, file.render(existsSync(target) ? readFileSync(target, "utf8") : ""));
}
