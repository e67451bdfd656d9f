// What a running pod costs the node that it runs on, measured several times once it has come to rest.
import { setTimeout as sleep } from "node:timers/promises";
import { containerOf, type RunningPod } from "../lab/nodes/pods.ts";
import type { Ground } from "./ground.ts";
import { processMemory, workingSet } from "./process.ts";

/** In MiB, a sample a second. */
export interface MemorySamples {
  readonly workingSet: readonly number[];
  readonly resident: readonly number[];
  readonly anonymous: readonly number[];
}

const count = 10;

/** `scrape` is where metrics are asked for before each sample: more often than any Prometheus asks. */
export async function memorySamples(
  { signal, options }: Ground,
  pod: RunningPod,
  { scrape }: { scrape?: string } = {},
): Promise<MemorySamples> {
  const { pid } = containerOf(pod);
  await sleep(options.settleSeconds * 1000, undefined, { signal });
  const samples = { workingSet: [] as number[], resident: [] as number[], anonymous: [] as number[] };
  for (let sample = 0; sample < count; sample += 1) {
    if (scrape !== undefined) await (await fetch(scrape, { signal })).text();
    const { resident, anonymous } = processMemory(pid);
    samples.resident.push(resident);
    samples.anonymous.push(anonymous);
    samples.workingSet.push(workingSet(pid));
    await sleep(1000, undefined, { signal });
  }
  return samples;
}
