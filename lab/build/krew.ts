// krew, the manager of kubectl plugins, and its check of manifests, for tests of the plugin's archive and manifest.
import { writeFile } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt, type Recipe } from "./cache.ts";
import { goBuild, goMod } from "./go.ts";
import { pinsFolder } from "./modules/pins.ts";

const module = "sigs.k8s.io/krew";
const version = "0.5.0";
const mod = goMod("krew", { [module]: `v${version}` });
const programs = { krew: "krew", validate: "validate-krew-manifest" } as const;

const krewRecipe: Recipe = {
  name: "krew",
  version,
  ingredients: [mod],
  async build(folder, step) {
    await writeFile(path.join(folder, "go.mod"), mod);
    const pins = pinsFolder("krew", version);
    for (const program of Object.values(programs))
      await goBuild(
        { from: folder, package: `${module}/cmd/${program}`, output: path.join(folder, program), pins },
        step,
      );
  },
};

/** The paths of the programs. */
export async function ensureKrew(): Promise<Record<keyof typeof programs, string>> {
  const folder = await ensureBuilt(krewRecipe);
  return { krew: path.join(folder, programs.krew), validate: path.join(folder, programs.validate) };
}
