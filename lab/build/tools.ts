// Builds the small programs of the lab: CoreDNS, the probe of the test image, and pause.
import type { Recipe } from "./cache.ts";
import { goBuildSource, goMod, goSource } from "./go.ts";

const corednsVersion = "1.14.7";

async function sourceRecipe(name: string, version: string, require: Record<string, string>): Promise<Recipe> {
  const source = { goMod: goMod(name, require), main: await goSource(name), output: name };
  return {
    name,
    version,
    ingredients: [source.goMod, source.main],
    build: (folder, step) => goBuildSource(folder, source, step),
  };
}

export const corednsRecipe = (): Promise<Recipe> =>
  sourceRecipe("coredns", corednsVersion, { "github.com/coredns/coredns": `v${corednsVersion}` });

export const probeRecipe = (): Promise<Recipe> => sourceRecipe("probe", "1", {});

export const pauseRecipe = (): Promise<Recipe> => sourceRecipe("pause", "3.10", {});
