// `make bench`: runs the benchmarks one after another on a real Kubernetes and prints one table. What it measured is
// in dist/bench.json too. A figure that misses its aim fails the run; no time has one, but a ratio of times may.
import { mkdir, writeFile } from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { parseArgs } from "node:util";
import { UsageError } from "../lab/config.ts";
import { tree } from "../lab/images/bundle.ts";
import { bold, red, say } from "../lab/progress.ts";
import { cache } from "./cache.ts";
import { clusterCreate } from "./cluster/create.ts";
import { clusterHeal } from "./cluster/heal.ts";
import { clusterHealVolume } from "./cluster/heal-volume.ts";
import { clusterHealLarge } from "./cluster/heal-large.ts";
import { clusterMany } from "./cluster/many.ts";
import { clusterResize } from "./cluster/resize.ts";
import { clusterUpgrade } from "./cluster/upgrade.ts";
import { clusterWriteGap } from "./cluster/write-gap.ts";
import { type BenchOptions, type Ground, withGround } from "./ground.ts";
import { idle } from "./idle.ts";
import type { Figure } from "./measure.ts";
import { podMemory } from "./pod-memory.ts";
import { markdownTable, screenTable } from "./table.ts";
import { watchLatency } from "./watch-latency.ts";

/** In this order: what wants an empty cluster comes before what fills it. A new benchmark is one more line here. */
const benchmarks: Readonly<Record<string, (ground: Ground) => Promise<Figure[]>>> = {
  "watch-latency": watchLatency,
  idle,
  "cluster-create": clusterCreate,
  "cluster-heal": clusterHeal,
  "cluster-heal-volume": clusterHealVolume,
  "cluster-heal-large": clusterHealLarge,
  "cluster-resize": clusterResize,
  "cluster-write-gap": clusterWriteGap,
  "cluster-upgrade": clusterUpgrade,
  "cluster-many": clusterMany,
  "pod-memory": podMemory,
  cache,
};

const help = `node bench/main.ts [options] [${Object.keys(benchmarks).join(" | ")}]…   (default: all)
  --events N         changes for the latency of a watch (default: 500)
  --objects N        objects in a full cache (default: 10000)
  --idle-minutes N   (default: 2)
  --settle N         seconds that a process rests before its memory counts (default: 15)
  --repeats N        processes or pods of each sort (default: 3)
  --rounds N         times that each thing is done to an etcd cluster (default: 5)
  --clusters N       etcd clusters that one operator looks after at once (default: 60)`;

const isArgumentError = (error: unknown): boolean =>
  error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");

function natural(name: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`--${name} takes a whole number from 1 on, not "${text}".`);
  return Number(text);
}

async function main(argv: readonly string[], signal: AbortSignal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      events: { type: "string", default: "500" },
      objects: { type: "string", default: "10000" },
      "idle-minutes": { type: "string", default: "2" },
      settle: { type: "string", default: "15" },
      repeats: { type: "string", default: "3" },
      rounds: { type: "string", default: "5" },
      clusters: { type: "string", default: "60" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) {
    process.stdout.write(`${help}\n`);
    return 0;
  }
  const unknown = positionals.filter((name) => !Object.hasOwn(benchmarks, name));
  if (unknown.length > 0) throw new UsageError(`No benchmark is called ${unknown.join(", ")}.\n${help}`);
  const options: BenchOptions = {
    events: natural("events", values.events),
    objects: natural("objects", values.objects),
    idleMinutes: natural("idle-minutes", values["idle-minutes"]),
    settleSeconds: natural("settle", values.settle),
    repeats: natural("repeats", values.repeats),
    rounds: natural("rounds", values.rounds),
    clusters: natural("clusters", values.clusters),
  };

  const figures: (Figure & { benchmark: string })[] = [];
  let kubernetes = "";
  await withGround(options, signal, async (ground) => {
    kubernetes = ground.lab.kubernetes;
    for (const [benchmark, run] of Object.entries(benchmarks)) {
      if (positionals.length > 0 && !positionals.includes(benchmark)) continue;
      signal.throwIfAborted();
      say(bold(benchmark));
      for (const figure of await run(ground)) figures.push({ benchmark, ...figure });
    }
  });
  await report(figures, { kubernetes, options });
  const missed = figures.filter(({ aim }) => aim?.met === false);
  for (const { what } of missed) say(red(`Missed its aim: ${what}`));
  return missed.length === 0 ? 0 : 1;
}

async function report(figures: readonly Figure[], about: { kubernetes: string; options: BenchOptions }): Promise<void> {
  const file = path.join(tree, "dist", "bench.json");
  const machine = { processors: os.cpus().length, model: os.cpus()[0]?.model, load: os.loadavg() };
  const at = new Date().toISOString();
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ at, node: process.version, machine, ...about, figures }, undefined, 2)}\n`);
  process.stdout.write(`\n${screenTable(figures)}\n\n${markdownTable(figures)}\n\n`);
  say(`The same is in ${path.relative(process.cwd(), file)}.`);
}

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => {
    if (!interrupted.signal.aborted) say(`${signal}: stopping, and cleaning up.`);
    interrupted.abort(new UsageError("Interrupted before the end."));
  });

try {
  process.exitCode = await main(process.argv.slice(2), interrupted.signal);
} catch (error) {
  // Whatever broke off because of the interruption is no news.
  const cause: unknown = interrupted.signal.aborted ? interrupted.signal.reason : error;
  const expected = cause instanceof UsageError || isArgumentError(cause);
  say(red(cause instanceof Error ? ((expected ? undefined : cause.stack) ?? cause.message) : String(cause)));
  process.exitCode = expected ? 2 : 1;
}
