// Which modules a Go program is built from, all of them, with their hashes: the go.mod and go.sum in lab/build/modules/PROGRAM-VERSION.
// Go builds from these as they are and refuses a module that is missing there or differs. `GO_PINS=write` writes those of a
// program that has none, or whose version was raised.
import { copyFile, mkdir, readFile } from "node:fs/promises";
import * as path from "node:path";

/** The value of Go's flag -mod: `readonly` builds from what is pinned, `mod` lets Go complete what is wanted. */
export type ModuleMode = "readonly" | "mod";

const files = ["go.mod", "go.sum"] as const;

/** The folder of a program's pins. */
export const pinsFolder = (program: string, version: string): string =>
  path.join(import.meta.dirname, `${program}-${version}`);

/** Replaces the go.mod in `folder`, which names what is wanted, by the pinned one, which names all that this brings. */
export async function takePins(pins: string, folder: string): Promise<ModuleMode> {
  const pinned = await readFile(path.join(pins, "go.mod"), "utf8").catch(() => "");
  const differs = wantedBut(pinned, await readFile(path.join(folder, "go.mod"), "utf8"));
  if (differs.length === 0) {
    for (const file of files) await copyFile(path.join(pins, file), path.join(folder, file));
    return "readonly";
  }
  if (writing()) return "mod";
  const where = path.relative(process.cwd(), pins);
  throw new Error(
    `${where} does not pin ${differs.join(", ")}. After a change of version, run the same command once with GO_PINS=write.`,
  );
}

/** Keeps what Go found in the tree. */
export async function keepPins(pins: string, folder: string): Promise<void> {
  await mkdir(pins, { recursive: true });
  for (const file of files) await copyFile(path.join(folder, file), path.join(pins, file));
}

const writing = (): boolean => process.env["GO_PINS"] === "write";

/** The modules of one go.mod that another does not have at the same version. */
export function wantedBut(pinned: string, wanted: string): string[] {
  const have = new Set(requirementsIn(pinned));
  return requirementsIn(wanted).filter((requirement) => !have.has(requirement));
}

/** `MODULE VERSION`, of a block and of a line of its own. */
export function requirementsIn(goMod: string): string[] {
  return [...goMod.matchAll(/^(?:require\s+|\t)([^\s()]+) (v\S+)(?: \/\/ indirect)?$/gm)].map(
    ([, module = "", version = ""]) => `${module} ${version}`,
  );
}
