// Tries mutations in a scratch copy of the sources: which tests can notice one, in which order they are run, and which
// notices it first.
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { type Mutation, mutatedText } from "./mutations.ts";

export type Verdict =
  | { readonly by: "test"; readonly name: string }
  /** It took several times as much of a processor as it does without the mutation. */
  | { readonly by: "time"; readonly file: string }
  | { readonly by: "nobody" };

type Run =
  | { readonly t: "passed"; readonly ms: number }
  | { readonly t: "failed"; readonly test: string }
  | { readonly t: "endless" };

/** A test file that passes without mutations, and how much of a processor it takes then. */
export interface TimedFile {
  readonly file: string;
  readonly ms: number;
}

/** Files below this start together in one process, because most of their time is the start. */
export const quickMs = 2_000;
/**
 * In time of a processor, not of the clock: on a machine with other work to do a test may take any time, and that is no
 * endless loop. What waits for ever takes none, and has the longest.
 */
const patience = { factor: 6, leastMs: 30_000 } as const;
const longest = 20 * 60_000;
const pollEveryMs = 250;

export class Scratch implements Disposable {
  readonly #folder: string;
  readonly #program: string;
  readonly #children = new Set<ChildProcess>();

  /** `folders` of the project, as in `src`, are copied; the rest is not needed to run their tests. */
  constructor(root: string, folders: readonly string[]) {
    this.#folder = mkdtempSync(path.join(tmpdir(), "mutants-"));
    this.#program = path.join(root, "node_modules/.bin");
    for (const folder of folders) cpSync(path.join(root, folder), path.join(this.#folder, folder), { recursive: true });
    cpSync(path.join(root, "package.json"), path.join(this.#folder, "package.json"));
    symlinkSync(path.join(root, "node_modules"), path.join(this.#folder, "node_modules"));
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async timed(file: string): Promise<TimedFile | { readonly file: string; readonly failed: string }> {
    const run = await this.#test([file], longest);
    if (run.t === "passed") return { file, ms: run.ms };
    return { file, failed: run.t === "failed" ? run.test : "it does not end" };
  }

  /** `tests`: those that can reach the mutated file. */
  async try(mutation: Mutation, tests: readonly TimedFile[]): Promise<Verdict> {
    const file = path.join(this.#folder, mutation.file);
    const sound = readFileSync(file, "utf8");
    writeFileSync(file, mutatedText(sound, mutation));
    try {
      for (const { files, ms } of batches(mutation.file, tests)) {
        const run = await this.#test(files, Math.max(patience.leastMs, patience.factor * ms));
        if (run.t === "failed") return { by: "test", name: run.test };
        if (run.t === "endless") return { by: "time", file: files.join(", ") };
      }
      return { by: "nobody" };
    } finally {
      writeFileSync(file, sound);
    }
  }

  /** Ends at the first test that fails. */
  #test(files: readonly string[], limitMs: number): Promise<Run> {
    // One process for all of them; an array that grows for ever must not take the machine along.
    const options = ["--test", "--test-isolation=none", "--test-reporter=tap", "--max-old-space-size=1024"];
    const child = spawn(path.join(this.#program, "node"), [...options, ...files], {
      cwd: this.#folder,
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#children.add(child);
    const { promise, resolve, reject } = Promise.withResolvers<Run>();
    let failed: string | undefined;
    let endless = false;
    let said = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (chunk: string) => {
      said += chunk;
      failed ??= /^\s*not ok \d+ - (.*)$/m.exec(said)?.[1];
      said = said.slice(-10_000);
      if (failed !== undefined) child.kill("SIGKILL");
    });
    const began = Date.now();
    let ms = 0;
    const timer = setInterval(() => {
      ms = processorMs(child.pid) ?? ms;
      endless = ms > limitMs || Date.now() - began > longest;
      if (endless) child.kill("SIGKILL");
    }, pollEveryMs);
    child.on("error", reject);
    child.on("close", (code) => {
      clearInterval(timer);
      this.#children.delete(child);
      if (endless) resolve({ t: "endless" });
      else if (failed !== undefined) resolve({ t: "failed", test: failed });
      else if (code !== 0) resolve({ t: "failed", test: `the test process ends with ${code}` });
      else resolve({ t: "passed", ms });
    });
    return promise;
  }
}

/** The processor time of a process so far, in all its threads; undefined when it has ended. */
function processorMs(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Behind the name, which may hold anything: utime and stime, in hundredths of a second.
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13);
    return (Number(user) + Number(system)) * 10;
  } catch {
    return undefined;
  }
}

/** The quick ones that stand nearest, the other quick ones, then each of the slow ones, shortest first. */
function batches(mutated: string, tests: readonly TimedFile[]): { files: string[]; ms: number }[] {
  const quick = tests.filter(({ ms }) => ms <= quickMs);
  const slow = tests.filter(({ ms }) => ms > quickMs).toSorted((a, b) => a.ms - b.ms);
  const distance = ({ file }: TimedFile): number => path.relative(path.dirname(mutated), path.dirname(file)).length;
  const least = Math.min(...quick.map(distance));
  const all = [
    quick.filter((test) => distance(test) === least),
    quick.filter((test) => distance(test) > least),
    ...slow.map((test) => [test]),
  ];
  return all
    .filter((batch) => batch.length > 0)
    .map((batch) => ({ files: batch.map(({ file }) => file), ms: batch.reduce((sum, { ms }) => sum + ms, 0) }));
}

/** By file, the files that import it, directly or through others; types count for nothing when tests run. */
export function importersIn(root: string, folder: string): (file: string) => ReadonlySet<string> {
  const imports = new Map(
    sourcesIn(root, folder).map((file) => {
      const text = readFileSync(path.join(root, file), "utf8");
      const found = text.matchAll(/^(?:import|export|\}) (?!type )[^;]*?"(\.[^"]+)";$/gm);
      return [file, [...found].map(([, to = ""]) => path.join(path.dirname(file), to))] as const;
    }),
  );
  return (wanted) => {
    const reach = new Set([wanted]);
    for (;;) {
      const more = [...imports].filter(([file, to]) => !reach.has(file) && to.some((one) => reach.has(one)));
      if (more.length === 0) return reach;
      for (const [file] of more) reach.add(file);
    }
  };
}

export function sourcesIn(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => path.join(folder, file))
    .sort();
}
