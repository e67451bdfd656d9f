// `node lab/build/main.ts [packages|binaries|stores|prometheus|images|operator|bundle]` builds what the lab lacks; without an argument,
// everything. Prints the paths of the results, one a line.
import { labConfig, UsageError } from "../config.ts";
import { buildOperatorImage } from "../images/operator.ts";
import { bundleOperator, bundleWorker } from "../images/bundle.ts";
import { ensureImages } from "../images/index.ts";
import { red, say } from "../progress.ts";
import { ensureBinaries } from "./binaries.ts";
import { ensurePackages } from "./packages.ts";
import { checkMachine } from "./prerequisites.ts";
import { ensureDiscovery, ensureMonitoringCrds, ensurePrometheus } from "./prometheus.ts";
import { ensureStoreServers } from "./stores.ts";

async function binaries(): Promise<string[]> {
  const lab = labConfig();
  await ensureBinaries(lab);
  return [lab.bin];
}

const targets: Record<string, () => Promise<string[]>> = {
  packages: async () => {
    await ensurePackages();
    return [];
  },
  binaries,
  stores: ensureStoreServers,
  prometheus: async () => [await ensurePrometheus(), await ensureDiscovery(), await ensureMonitoringCrds()],
  images: async () => (await ensureImages()).map(({ file }) => file),
  operator: async () => [(await buildOperatorImage()).file],
  bundle: async () => [await bundleOperator(), await bundleWorker()],
};

async function everything(): Promise<string[]> {
  const missing = await checkMachine();
  if (missing.length > 0) throw new UsageError(missing.join("\n"));
  await ensurePackages();
  return [
    ...(await binaries()),
    ...(await ensureStoreServers()),
    await ensurePrometheus(),
    await ensureDiscovery(),
    await ensureMonitoringCrds(),
    ...(await ensureImages()).map(({ file }) => file),
    (await buildOperatorImage()).file,
  ];
}

async function main(words: readonly string[]): Promise<number> {
  const [word] = words;
  const target = word === undefined ? everything : targets[word];
  if (target === undefined || words.length > 1) {
    say(`node lab/build/main.ts [${Object.keys(targets).join("|")}]`);
    return 2;
  }
  try {
    for (const made of await target()) process.stdout.write(`${made}\n`);
    return 0;
  } catch (error) {
    say(red(error instanceof Error ? error.message : String(error)));
    return error instanceof UsageError ? 2 : 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
