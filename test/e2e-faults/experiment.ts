// Runs example/experiment: put.sh keeps writing while delete_pod.sh keeps stopping members; at the end get.sh reports missing
// acknowledged writes.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { run } from "../../lab/machine/command.ts";
import { waitFor } from "../../lab/progress.ts";
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
      repeat(writesOfAFewTries(() => script("put.sh", String(writesAtOnce)))),
      repeat(async () => {
        await script("delete_pod.sh", "1");
        stopped += 1;
      }),
    ]);
    const verdict = await readBack(() => script("get.sh"));
    const acknowledged = (await readFile(noted, "utf8")).trimEnd().split("\n").length;
    return { stopped, acknowledged, verdict };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** put.sh fails when none of its writes succeeds, as while a busy machine takes its time to elect another leader. */
function writesOfAFewTries(put: () => Promise<string>): () => Promise<void> {
  let failures = 0;
  return async () => {
    try {
      await put();
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === mostFailures) throw error;
    }
  };
}

const mostFailures = 5;

/** Again while nobody answers. What is lost stays lost. */
async function readBack(get: () => Promise<string>): Promise<string> {
  const isLost = (error: unknown): error is Error => error instanceof Error && error.message.includes("LOST");
  const answer = await waitFor<string | Error>(
    "the writes to be read back",
    () =>
      get().catch((error: unknown) => {
        if (isLost(error)) return error;
        throw error;
      }),
    { timeoutMs: 180_000, everyMs: 1_000 },
  );
  if (answer instanceof Error) throw answer;
  return answer.trim();
}
