// Writes the files that are made from release/: `node release/generate.ts`.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { generatedFiles } from "./generated.ts";

for (const file of generatedFiles()) {
  const target = path.resolve(import.meta.dirname, "..", file.path);
  writeFileSync(target, file.render(existsSync(target) ? readFileSync(target, "utf8") : ""));
}
