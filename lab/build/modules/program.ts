// The recipe of a Go program that is one package of a published module, built from pinned modules.
import { writeFile } from "node:fs/promises";
import * as path from "node:path";
import type { Recipe } from "../cache.ts";
import { goBuild, goMod } from "../go.ts";
import { pinsFolder } from "./pins.ts";

export function goProgram(name: string, module: string, version: string, pkg: string): Recipe {
  const mod = goMod(name, { [module]: `v${version}` });
  return {
    name,
    version,
    ingredients: [mod, pkg],
    async build(folder, step) {
      await writeFile(path.join(folder, "go.mod"), mod);
      const pins = pinsFolder(name, version);
      await goBuild({ from: folder, package: pkg, output: path.join(folder, name), pins }, step);
    },
  };
}
