// `make bench`: runs the benchmarks one after another, most of them on a real Kubernetes, and prints one table. What it
// measured is in dist/bench.json too. A figure that misses its aim fails the run; no time has one, but a ratio of times may.
import { mkdir, writeFile } from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { parseArgs } from "node:util";
import { UsageError } from "../lab/config.ts";
import { tree } from "../lab/images/bundle.ts";
import { bold, red, say } from "../lab/progress.ts";
import { backupMemory } from "./backup/backup-memory.ts";
import { backupThroughput } from "./backup/backup-throughput.ts";
import { restoreThroughput } from "./backup/restore-throughput.ts";
import { cache } from "./cache.ts";
import { clusterBackupSmall } from "./cluster/backup-small.ts";
import { clusterCreate } from "./cluster/create.ts";
import { clusterCreateTls } from "./cluster/create-tls.ts";
import { clusterHeal } from "./cluster/heal.ts";
import { clusterHealVolume } from "./cluster/heal-volume.ts";
import { clusterHealLarge } from "./cluster/heal-large.ts";
import { clusterMany } from "./cluster/many.ts";
import { clusterResize } from "./cluster/resize.ts";
import { clusterRestore } from "./cluster/restore.ts";
import { clusterUpgrade } from "./cluster/upgrade.ts";
import { clusterWriteGap } from "./cluster/write-gap.ts";
import { type BenchOptions, type Ground, withGround } from "./ground.ts";
import { idle } from "./idle.ts";
import type { Figure } from "./measure.ts";
import { podMemory } from "./pod-memory.ts";
import { markdownTable, screenTable } from "./table.ts";
import { watchLatency } from "./watch-latency.ts";

/** These need no Kubernetes, and no lab is started for them. */
const onThisMachine: Readonly<Record<string, (options: BenchOptions, signal: AbortSignal) => Promise<Figure[]>>> = {
  "backup-throughput": backupThroughput,
  "backup-memory": backupMemory,
  "restore-throughput": restoreThroughput,
};

/** In this order: what wants an empty cluster comes before what fills it. A new benchmark is one more line here. */
const onKubernetes: Readonly<Record<string, (ground: Ground) => Promise<Figure[]>>> = {
  "watch-latency": watchLatency,
  idle,
  "cluster-create": clusterCreate,
  "cluster-create-tls": clusterCreateTls,
  "cluster-heal": clusterHeal,
  "cluster-heal-volume": clusterHealVolume,
  "cluster-heal-large": clusterHealLarge,
  "cluster-resize": clusterResize,
  "cluster-write-gap": clusterWriteGap,
  "cluster-upgrade": clusterUpgrade,
  "cluster-backup-small": clusterBackupSmall,
  "cluster-restore": clusterRestore,
  "cluster-many": clusterMany,
  "pod-memory": podMemory,
  cache,
};

const names = [...Object.keys(onThisMachine), ...Object.keys(onKubernetes)];

const help = `node bench/main.ts [options] [${names.join(" | ")}]…   (default: all)
  --events N         changes for the latency of a watch (default: 500)
  --objects N        objects in a full cache (default: 10000)
  --idle-minutes N   (default: 2)
  --settle N         seconds that a process rests before its memory counts (default: 15)
  --repeats N        processes or pods of each sort (default: 3)
  --rounds N         times that each thing is done to an etcd cluster, or to a backup (default: 5)
  --backup-mib N     size of the database that is backed up and restored (default: 1024)
  --clusters N       etcd clusters that one operator manages at once (default: 60)`;

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
      "backup-mib": { type: "string", default: "1024" },
      clusters: { type: "string", default: "60" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) {
    process.stdout.write(`${help}\n`);
    return 0;
  }
  const unknown = positionals.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new UsageError(`No benchmark is called ${unknown.join(", ")}.\n${help}`);
  const options: BenchOptions = {
    events: natural("events", values.events),
    objects: natural("objects", values.objects),
    idleMinutes: natural("idle-minutes", values["idle-minutes"]),
    settleSeconds: natural("settle", values.settle),
    repeats: natural("repeats", values.repeats),
    rounds: natural("rounds", values.rounds),
    backupMebibytes: natural("backup-mib", values["backup-mib"]),
    clusters: natural("clusters", values.clusters),
  };

  const figures: (Figure & { benchmark: string })[] = [];
  const chosen = <T>(benchmarks: Readonly<Record<string, T>>): [string, T][] =>
    Object.entries(benchmarks).filter(([name]) => positionals.length === 0 || positionals.includes(name));
  const measure = async (benchmark: string, run: () => Promise<Figure[]>): Promise<void> => {
    signal.throwIfAborted();
    say(bold(benchmark));
    for (const figure of await run()) figures.push({ benchmark, ...figure });
  };
  for (const [name, run] of chosen(onThisMachine)) await measure(name, () => run(options, signal));
  let kubernetes: string | undefined;
  if (chosen(onKubernetes).length > 0)
    await withGround(options, signal, async (ground) => {
      kubernetes = ground.lab.kubernetes;
      for (const [name, run] of chosen(onKubernetes)) await measure(name, () => run(ground));
    });
  await report(figures, { kubernetes, options });
  const missed = figures.filter(({ aim }) => aim?.met === false);
  for (const { what } of missed) say(red(`Missed its aim: ${what}`));
  return missed.length === 0 ? 0 : 1;
}

async function report(
  figures: readonly Figure[],
  about: { kubernetes: string | undefined; options: BenchOptions },
): Promise<void> {
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
