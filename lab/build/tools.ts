// Builds the small programs of the lab: CoreDNS, the probe of the test image, pause, and the recorder and judge of histories.
import type { Recipe } from "./cache.ts";
import { goBuildFiles, goBuildSource, goMod, goSource, goSources } from "./go.ts";
import { pinsFolder } from "./modules/pins.ts";

const corednsVersion = "1.14.7";

async function sourceRecipe(name: string, version: string, require: Record<string, string>): Promise<Recipe> {
  const requires = Object.keys(require).length > 0;
  const source = {
    goMod: goMod(name, require),
    main: await goSource(name),
    output: name,
    ...(requires && { pins: pinsFolder(name, version) }),
  };
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

/** The etcd whose robustness checkers and client it is made of. They read what older servers wrote. */
const checkersVersion = "3.7.3";

/** The robustness tests require it, and no proxy has it. Only an integration test imports it, so an empty module will do. */
const neverImported = "go.etcd.io/etcd/cache/v3";

export async function robustnessRecipe(): Promise<Recipe> {
  const name = "robustness";
  const mod = goMod(name, { "go.etcd.io/etcd/tests/v3": `v${checkersVersion}` });
  const files = {
    ...(await goSources(name)),
    "go.mod": `${mod}\nreplace ${neverImported} => ./empty\n`,
    "empty/go.mod": `module ${neverImported}\n\ngo 1.24\n`,
  };
  return {
    name,
    version: checkersVersion,
    ingredients: Object.entries(files).flat(),
    build: (folder, step) => goBuildFiles(folder, files, name, step, pinsFolder(name, checkersVersion)),
  };
}
