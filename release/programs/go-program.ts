// Go programs that a release is made with, or contains: all built by one version of Go, from modules that are pinned with their
// hashes (lab/build/modules), so that every machine gets the same bytes.
import { readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt, type Recipe } from "../../lab/build/cache.ts";
import { goBuild, goMod, linkerFlags } from "../../lab/build/go.ts";
import { pinsFolder } from "../../lab/build/modules/pins.ts";

/** Of another version, Go fetches this one, where it may (GOTOOLCHAIN). */
export const goVersion = "1.26.8";

export interface GoProgram {
  readonly name: string;
  readonly version: string;
  /** What it is built from, each with its version; without any, from Go's own packages alone, and nothing is pinned. */
  readonly modules: Readonly<Record<string, string>>;
  /** The packages that are built, by the names of the programs. */
  readonly packages: Readonly<Record<string, string>>;
  /** The file here that is the package `.`. */
  readonly source?: string;
  readonly linkerFlags?: string;
  /** As Go calls it; otherwise this machine's. */
  readonly architecture?: string;
}

/** The folder that the programs are in. */
export const ensureProgram = async (program: GoProgram): Promise<string> => ensureBuilt(await recipeOf(program));

async function recipeOf(program: GoProgram): Promise<Recipe> {
  const { name, version, modules, packages, source, architecture } = program;
  const pins = Object.keys(modules).length === 0 ? undefined : pinsFolder(name, version);
  const main = source === undefined ? undefined : await readFile(path.join(import.meta.dirname, source), "utf8");
  const flags = program.linkerFlags ?? linkerFlags;
  const mod = goMod(name, modules);
  return {
    name: `release-${name}`,
    version,
    ingredients: [
      goVersion,
      architecture ?? "own",
      flags,
      mod,
      main ?? "",
      ...Object.entries(packages).flat(),
      pins === undefined ? "" : await readFile(path.join(pins, "go.sum"), "utf8").catch(() => ""),
    ],
    async build(folder, step) {
      await writeFile(path.join(folder, "go.mod"), mod);
      if (main !== undefined) await writeFile(path.join(folder, "main.go"), main);
      for (const [file, pkg] of Object.entries(packages))
        await goBuild(
          {
            from: folder,
            package: pkg,
            output: path.join(folder, file),
            linkerFlags: flags,
            settings: {
              GOTOOLCHAIN: `go${goVersion}`,
              // What a machine prefers must not be in the program.
              GOAMD64: "v1",
              GOARM64: "v8.0",
              GOEXPERIMENT: "",
              ...(architecture === undefined ? {} : { GOOS: "linux", GOARCH: architecture }),
            },
            pins,
          },
          step,
        );
    },
  };
}
