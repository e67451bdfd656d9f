// Runs example/experiment: put.sh keeps writing while delete_pod.sh keeps stopping members; at the end get.sh reports missing
// acknowledged writes.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { run } from "../../lab/machine/command.ts";
import { root } from "../suites.ts";

interface ExperimentOptions {
  readonly namespace: string;
  readonly cluster: string;
  readonly lastsMs: number;
  /** It goes on for longer until this many members were stopped, which takes a busy machine its time. */
  readonly fewest?: number;
}

interface ExperimentResult {
  readonly stopped: number;
  readonly acknowledged: number;
  /** What get.sh printed. It fails when a write is missing, and so does the experiment. */
  readonly verdict: string;
}

/** Writes per call of put.sh. */
const writesAtOnce = 10;

export async function experiment(options: ExperimentOptions): Promise<ExperimentResult> {
  const folder = await mkdtemp(path.join(tmpdir(), "etcd-operator-experiment-"));
  const noted = path.join(folder, "acknowledged.txt");
  const until = Date.now() + options.lastsMs;
  const script = async (name: string, ...args: string[]): Promise<string> => {
    const env = { NAMESPACE: options.namespace, CLUSTER: options.cluster, ACKNOWLEDGED: noted };
    return run(path.join(root, "example/experiment", name), args, { env });
  };
  let stopped = 0;
  const repeat = async (work: () => Promise<void>): Promise<void> => {
    while (Date.now() < until || stopped < (options.fewest ?? 0)) await work();
  };
  try {
    await Promise.all([
      repeat(async () => void (await script("put.sh", String(writesAtOnce)))),
      repeat(async () => {
        await script("delete_pod.sh", "1");
        stopped += 1;
      }),
    ]);
    const verdict = (await script("get.sh")).trim();
    const acknowledged = (await readFile(noted, "utf8")).trimEnd().split("\n").length;
    return { stopped, acknowledged, verdict };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
