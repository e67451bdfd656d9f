// Calls the Go toolchain: builds static, stripped programs from modules at pinned versions, and shows the progress.
import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { CommandError, run } from "../machine/command.ts";
import type { Step } from "../progress.ts";
import { keepPins, takePins } from "./modules/pins.ts";

/** Go settings of the developer must not change what is built here. */
const environment = { CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GOWORK: "off" };

export const linkerFlags = "-s -w";

export function goMod(module: string, require: Readonly<Record<string, string>>): string {
  const lines = Object.entries(require).map(([name, version]) => `\t${name} ${version}\n`);
  return `module lab/${module}\n\ngo 1.24\n${lines.length === 0 ? "" : `\nrequire (\n${lines.join("")})\n`}`;
}

export const goSource = (program: string): Promise<string> =>
  readFile(path.join(import.meta.dirname, program, "main.go"), "utf8");

/** All of its source, by name. */
export async function goSources(program: string): Promise<Record<string, string>> {
  const folder = path.join(import.meta.dirname, program);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".go")).sort();
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), "utf8")));
  return Object.fromEntries(names.map((name, at) => [name, texts[at] ?? ""]));
}

interface GoBuild {
  /** The folder with go.mod. */
  readonly from: string;
  readonly package: string;
  readonly output: string;
  readonly linkerFlags?: string;
  /** Settings of Go for this build only, such as the architecture. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder that names all of its modules with their hashes (modules/pins.ts). Without it, Go chooses and asks its checksum database. */
  readonly pins?: string | undefined;
}

export async function goBuild(build: GoBuild, step: Step): Promise<void> {
  const mode = build.pins === undefined ? "mod" : await takePins(build.pins, build.from);
  const args = ["build", "-v", `-mod=${mode}`, "-trimpath", "-ldflags", build.linkerFlags ?? linkerFlags];
  const child = spawn("go", [...args, "-o", build.output, build.package], {
    cwd: build.from,
    env: { ...process.env, ...environment, ...build.settings },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const program = path.basename(build.output);
  const complaints: string[] = [];
  let compiled = 0;
  const reader = createInterface({ input: child.stderr });
  reader.on("line", (line) => {
    const printed = progressOf(line);
    if (printed.is === "package") compiled += 1;
    else if (printed.is === "other") complaints.push(line);
    step.detail(
      printed.is === "download"
        ? `${program}: downloading ${printed.module}`
        : `${program}: ${compiled} packages compiled`,
    );
  });
  await new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new CommandError(`go build ${build.package}`, code, complaints.join("\n")));
    });
  });
  if (build.pins !== undefined && mode === "mod") await keepPins(build.pins, build.from);
}

type BuildLine = { is: "package" } | { is: "download"; module: string } | { is: "other" };

/** `go build -v` prints the path of each package that it compiles, and `go: downloading MODULE VERSION`. */
export function progressOf(line: string): BuildLine {
  const module = /^go: downloading (\S+ \S+)$/.exec(line)?.[1];
  if (module !== undefined) return { is: "download", module };
  return /^[\w.~-]+(\/[\w.~-]+)*$/.test(line) ? { is: "package" } : { is: "other" };
}

/** Downloads one module and returns the folder of its (read-only) source. */
export async function goModule(module: string, version: string, step: Step): Promise<string> {
  step.detail(`downloading ${module} ${version}`);
  const answer: unknown = JSON.parse(
    await run("go", ["mod", "download", "-json", `${module}@${version}`], { env: environment }),
  );
  if (typeof answer === "object" && answer !== null && "Dir" in answer && typeof answer.Dir === "string")
    return answer.Dir;
  throw new Error(`Go did not say where it put ${module} ${version}.`);
}

/** Writes a module of one main package into `folder` and builds it there. */
export async function goBuildSource(
  folder: string,
  source: { goMod: string; main: string; output: string; pins?: string },
  step: Step,
): Promise<void> {
  await goBuildFiles(folder, { "go.mod": source.goMod, "main.go": source.main }, source.output, step, source.pins);
}

/** Like `goBuildSource`, of several files, each at its path in the module. */
export async function goBuildFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
  output: string,
  step: Step,
  pins?: string,
): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  await goBuild({ from: folder, package: ".", output: path.join(folder, output), pins }, step);
}
