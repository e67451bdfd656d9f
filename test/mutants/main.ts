// Mutation test: makes one small mistake after another in the sources that members, certificates, backups and restores depend
// on, and tells which ones no test notices: no unit test, and of clients of stores none on a real server either. `make mutants`,
// with MUTANTS=200 for a random sample of that size and FILE=… for one file or folder only. `--file` may be given several times,
// `--at-once 1` leaves a processor to others, and `--without FILE` leaves a test file out, as one that takes minutes.
import * as path from "node:path";
import { parseArgs } from "node:util";
import { bold, dim, green, red, say, seconds, yellow } from "../../lab/progress.ts";
import { root } from "../suites.ts";
import { compilingOf, type Mutation, mutationsOf } from "./mutations.ts";
import { importersIn, quickMs, Scratch, sourcesIn, type TimedFile, type Verdict } from "./trial.ts";

/** Where mistakes are made, and whose tests have to notice them. */
const folders = ["cluster", "tls", "backup", "restore", "worker", "store", "seal"].map((name) => `src/${name}`);
/**
 * What a client of a store makes of an answer is for the store to judge, so these have tests on real servers. They start in
 * seconds and need no Kubernetes. What all clients share is judged by all of them.
 */
const onServers: readonly { readonly of: RegExp; readonly tests: readonly string[] }[] = [
  { of: /^src\/store\/s3\//, tests: ["s3", "oss", "s3-faults"] },
  { of: /^src\/store\/azure\//, tests: ["azure", "azure-faults"] },
  { of: /^src\/store\/gcs\//, tests: ["gcs", "gcs-faults"] },
  { of: /^src\/store\/folder\//, tests: ["folder"] },
  {
    of: /^src\/store\/[^/]+$/,
    tests: ["s3", "azure", "gcs", "folder", "oss", "s3-faults", "azure-faults", "gcs-faults"],
  },
];
const testsOf = ({ tests }: (typeof onServers)[number]): string[] => tests.map((name) => `test/stores/${name}.test.ts`);
const serverTestsOf = (file: string): string[] => onServers.filter(({ of }) => of.test(file)).flatMap(testsOf);

/** How many of the mistakes must be noticed at least. */
const goal = 0.9;
/** What these tests are made of. */
const copied = ["src", "lab", "test/stores", "test/support"];

const { values: options } = parseArgs({
  options: {
    count: { type: "string" },
    file: { type: "string", multiple: true },
    seed: { type: "string" },
    "at-once": { type: "string", default: "2" },
    without: { type: "string", multiple: true, default: [] },
  },
});

async function main(): Promise<number> {
  const began = Date.now();
  const seed = Number(options.seed ?? Date.now() % 100_000);
  const files = sources().filter(isMutated);
  const asked = options.file?.map((file) => path.normalize(file));
  const isIn = (file: string, place: string): boolean => file === place || file.startsWith(`${place}${path.sep}`);
  const unknown = asked?.filter((place) => !files.some((file) => isIn(file, place))) ?? [];
  if (unknown.length > 0) {
    say(`${unknown.join(", ")}: neither a source file nor a folder of ${folders.join(", ")}.`);
    return 2;
  }
  const wanted = files.filter((file) => asked?.some((place) => isIn(file, place)) ?? true);
  const all = mutationsOf(root, wanted);
  const mutations = first(Number(options.count ?? all.length), compilingOf(root, shuffled(all, seed)));
  if (mutations.length === 0) {
    say("There is no mutation that compiles, so there is nothing to notice.");
    return 2;
  }
  say(bold(`${mutations.length} of ${all.length} mutations of ${wanted.length} files`) + dim(` (seed ${seed})`));

  const scratches = Array.from({ length: Number(options["at-once"]) }, () => new Scratch(root, copied));
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      for (const scratch of scratches) scratch[Symbol.dispose]();
      process.exit(1);
    });
  try {
    const importers = importersIn(root, "src");
    const reachOf = (file: string): ReadonlySet<string> => new Set([...importers(file), ...serverTestsOf(file)]);
    const reaching = new Set(mutations.flatMap(({ file }) => [...reachOf(file)]));
    const tests = await timedTests(scratches, reaching);
    const verdicts = new Map<Mutation, Verdict>();
    const left = [...mutations];
    await Promise.all(
      scratches.map(async (scratch) => {
        for (let mutation = left.shift(); mutation !== undefined; mutation = left.shift()) {
          const reach = reachOf(mutation.file);
          const verdict = await scratch.try(
            mutation,
            tests.filter(({ file }) => reach.has(file)),
          );
          verdicts.set(mutation, verdict);
          tell(mutation, verdict);
        }
      }),
    );
    return conclude(mutations, verdicts, Date.now() - began);
  } finally {
    for (const scratch of scratches) scratch[Symbol.dispose]();
  }
}

const sources = (): string[] => folders.flatMap((folder) => sourcesIn(root, folder));
const isMutated = (file: string): boolean => !file.endsWith(".test.ts") && !file.includes("/testing/");

/** What fails without any mutation can notice none. */
async function timedTests(scratches: readonly Scratch[], reaching: ReadonlySet<string>): Promise<TimedFile[]> {
  const left = [...sources().filter((file) => file.endsWith(".test.ts")), ...onServers.flatMap(testsOf)].filter(
    (file, at, all) => all.indexOf(file) === at && reaching.has(file) && !options.without.includes(file),
  );
  const timed: TimedFile[] = [];
  await Promise.all(
    scratches.map(async (scratch) => {
      for (let file = left.shift(); file !== undefined; file = left.shift()) {
        const result = await scratch.timed(file);
        // Those on servers have hooks and ports of their own, so each has a process of its own.
        if ("ms" in result)
          timed.push(file.startsWith("src/") ? result : { file, ms: Math.max(result.ms, quickMs + 1) });
        else say(`${yellow("–")} ${file} is left out, for it fails without mutations: ${result.failed}`);
      }
    }),
  );
  return timed;
}

function tell({ file, line, column, change }: Mutation, verdict: Verdict): void {
  const place = `${file}:${line}:${column} ${change}`;
  if (verdict.by === "nobody") say(`${red("✗ unnoticed")} ${place}`);
  else if (verdict.by === "test") say(`${green("✓ noticed")}   ${place} ${dim(`by "${verdict.name}"`)}`);
  else say(`${green("✓ noticed")}   ${place} ${dim(`it never ends: ${verdict.file}`)}`);
}

function conclude(mutations: readonly Mutation[], verdicts: ReadonlyMap<Mutation, Verdict>, ms: number): number {
  const unnoticed = mutations.filter((mutation) => verdicts.get(mutation)?.by === "nobody");
  const noticed = mutations.length - unnoticed.length;
  const share = noticed / mutations.length;
  say();
  for (const { file, line, column, change } of unnoticed.toSorted((a, b) => (a.file < b.file ? -1 : 1)))
    process.stdout.write(`unnoticed: ${file}:${line}:${column} ${change}\n`);
  process.stdout.write(
    `${noticed} of ${mutations.length} noticed (${(share * 100).toFixed(1)} %); goal ${goal * 100} %; took ${seconds(ms)}\n`,
  );
  return share >= goal ? 0 : 1;
}

function first<T>(count: number, from: Iterable<T>): T[] {
  const taken: T[] = [];
  for (const one of from) {
    taken.push(one);
    if (taken.length === count) break;
  }
  return taken;
}

/** The same order for the same seed. */
function shuffled<T>(from: readonly T[], seed: number): T[] {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const left = [...from];
  return from.flatMap(() => left.splice(Math.floor(random() * left.length), 1));
}

process.exitCode = await main();
