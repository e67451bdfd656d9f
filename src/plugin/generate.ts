// Writes docs/kubectl-etcd.md: `node src/plugin/generate.ts`.
import { writeFileSync } from "node:fs";
import * as path from "node:path";
import { shownCommands } from "./commands.ts";
import { manual } from "./generate/manual.ts";

const root = path.resolve(import.meta.dirname, "../..");
writeFileSync(path.join(root, "docs/kubectl-etcd.md"), manual(shownCommands));
