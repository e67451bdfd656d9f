// Writes the pages that are made from code: node docs/generate.ts.
import { writeFileSync } from "node:fs";
import * as path from "node:path";
import { generatedPages } from "./generate/files.ts";

for (const page of generatedPages) writeFileSync(path.resolve(import.meta.dirname, "..", page.path), page.render());
