// Go programs that a release is made with, or contains. Each has a folder here with go.mod and go.sum, which name every module
// with its hash, and all are built by one version of Go, so that every machine gets the same bytes.
import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt, type Recipe } from "../../lab/build/cache.ts";
import { goBuild, linkerFlags } from "../../lab/build/go.ts";

/** Of another version, Go fetches this one, where it may (GOTOOLCHAIN). */
export const goVersion = "1.26.8";

export interface LockedProgram {
  /** Its folder here, and what the program is called. */
  readonly name: string;
  /** The packages that are built; without one, that of the folder. */
  readonly packages?: Readonly<Record<string, string>>;
  readonly linkerFlags?: string;
  /** As Go calls it; otherwise this machine's. */
  readonly architecture?: string;
}

export const folderOf = (name: string): string => path.join(import.meta.dirname, name);

/** The folder that the programs are in. */
export const ensureProgram = async (program: LockedProgram): Promise<string> => ensureBuilt(await recipeOf(program));

async function recipeOf(program: LockedProgram): Promise<Recipe> {
  const { name, packages = { [name]: "." }, architecture } = program;
  const folder = folderOf(name);
  const sources = (await readdir(folder)).sort();
  const texts = await Promise.all(sources.map((file) => readFile(path.join(folder, file), "utf8")));
  const flags = program.linkerFlags ?? linkerFlags;
  return {
    name: `release-${name}`,
    version: architecture ?? "own",
    ingredients: [goVersion, flags, ...Object.entries(packages).flat(), ...sources, ...texts],
    async build(output, step) {
      // Go writes nothing into the module, but its folder belongs to the tree.
      const from = path.join(output, "source");
      await mkdir(from);
      await cp(folder, from, { recursive: true });
      for (const [file, pkg] of Object.entries(packages))
        await goBuild(
          {
            from,
            package: pkg,
            output: path.join(output, file),
            linkerFlags: flags,
            settings: {
              GOTOOLCHAIN: `go${goVersion}`,
              // What a machine prefers must not be in the program.
              GOAMD64: "v1",
              GOARM64: "v8.0",
              GOEXPERIMENT: "",
              ...(architecture === undefined ? {} : { GOOS: "linux", GOARCH: architecture }),
            },
            locked: true,
          },
          step,
        );
    },
  };
}
